"""Conditions under which a storage is full."""

from uuid import UUID

import pytest

from dms.usecases.storages.free_space import is_full
from sluice.contracts.common.states import StorageType
from sluice.contracts.data.datasets import Storage
from sluice.contracts.data.storage_space import MIN_FREE

URL = "file:///data"


@pytest.mark.parametrize(
    ("capacity", "used", "free", "full"),
    [
        (None, 0, MIN_FREE, False),
        (None, 0, MIN_FREE - 1, True),
        (None, 0, None, False),
        (100, 99, None, False),
        (100, 100, None, True),
        (100, 120, MIN_FREE, True),
    ],
)
def test_storage_is_full_without_capacity_or_free_space_on_its_file_system(
    capacity: int | None, used: int, free: int | None, full: bool
) -> None:
    storage = Storage(
        id=UUID(int=1),
        name="small",
        type=StorageType.INTERMEDIATE,
        url=URL,
        capacity=capacity,
        enabled=True,
        used=used,
    )
    assert is_full(storage, {} if free is None else {URL: free}) is full
