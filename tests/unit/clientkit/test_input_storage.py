"""Choice of the input storage to which files are copied."""

from uuid import UUID

import pytest

from sluice.clientkit.transfer.input_storage import choose_with_space
from sluice.contracts.common.problems import NotAvailable
from sluice.contracts.common.states import StorageType
from sluice.contracts.data.datasets import Storage


def make_storage(name: str, *, capacity: int | None, used: int) -> Storage:
    place = {
        "id": UUID(int=1),
        "type": StorageType.INPUT,
        "url": f"file:///{name}",
        "enabled": True,
    }
    return Storage.model_validate({**place, "name": name, "capacity": capacity, "used": used})


SMALL, LARGE = (
    make_storage("small", capacity=1000, used=900),
    make_storage("large", capacity=2000, used=1000),
)
FULL, OVER = (
    make_storage("full", capacity=1000, used=1000),
    make_storage("over", capacity=1000, used=1400),
)
ENDLESS = make_storage("endless", capacity=None, used=9999)


@pytest.mark.parametrize(
    ("stores", "needed", "taken"),
    [
        ([SMALL, LARGE], 100, SMALL),
        ([SMALL, LARGE], 101, LARGE),
        ([FULL, SMALL], None, SMALL),
        ([FULL, SMALL], 0, SMALL),
        ([FULL, ENDLESS], 5000, ENDLESS),
    ],
)
def test_first_storage_with_enough_space_is_chosen(
    stores: list[Storage], needed: int | None, taken: Storage
) -> None:
    assert choose_with_space(stores, needed_bytes=needed) is taken


@pytest.mark.parametrize(
    ("needed", "size"), [(None, "more"), (0, "these 0 bytes"), (101, "these 101 bytes")]
)
def test_free_space_is_reported_if_no_storage_has_space(needed: int | None, size: str) -> None:
    with pytest.raises(
        NotAvailable,
        match=f"no input storage has space for {size}: full has 0 left of 1000, over has 0 left",
    ):
        choose_with_space([FULL, OVER], needed_bytes=needed)
