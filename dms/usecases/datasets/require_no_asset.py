"""Check that a data set holds no version of an asset."""

from dms.domain.errors import AssetDatasetReadOnly
from sluice.contracts.data.asset_refs import MARK
from sluice.contracts.data.datasets import Dataset


def require_no_asset(dataset: Dataset) -> None:
    """Check that a data set holds no version of an asset.

    Raises:
        AssetDatasetReadOnly: It holds one.
    """
    if MARK in dataset.meta:
        raise AssetDatasetReadOnly(dataset)
