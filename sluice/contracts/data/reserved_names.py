"""Names of data sets and keys of metadata that only the system gives."""

from sluice.contracts.common.base import Metadata
from sluice.contracts.common.problems import Unprocessable
from sluice.contracts.data.asset_refs import MARK, NAME_PREFIX
from sluice.contracts.data.datasets import NewDataset
from sluice.text.visible_text import quoted

#: The metadata key of the name of an output of a chain, which only the system sets.
OUTPUT_NAME = "output_name"


def require_unreserved(new: NewDataset) -> None:
    """Check the name and the metadata of a data set that a person registers.

    Raises:
        Unprocessable: The name is one of an asset, or the system sets a key of the metadata itself.
    """
    if new.name.startswith(NAME_PREFIX):
        raise Unprocessable(
            f"the name {quoted(new.name)} begins with {quoted(NAME_PREFIX)}, which is reserved for"
            " data sets of assets: give the data set another name, or store an asset with"
            " `sluice asset put`"
        )
    require_no_reserved_keys(new.meta, f"data set {quoted(new.name)}", OUTPUT_NAME)


def require_no_reserved_keys(meta: Metadata, subject: str, *other_keys: str) -> None:
    """Check the metadata of a data set or file that a person registers.

    Args:
        meta: The metadata.
        subject: The object that has the metadata, for the message.
        *other_keys: Keys that are reserved beside those of assets.

    Raises:
        Unprocessable: The system sets a key itself.
    """
    if reserved := [key for key in meta if key.startswith(MARK) or key in other_keys]:
        raise Unprocessable(
            f"{subject}: the metadata has {' and '.join(map(quoted, reserved))}, which the system"
            " sets itself: give it another name"
        )
