"""Which storage a step's data goes to."""

from collections.abc import Sequence

from sluice.contracts.datasets import Storage
from sluice.contracts.problems import NotAvailable
from sluice.contracts.states import StorageType


class NoStorageOfType(NotAvailable):
    """No storage of this type can take data now."""

    def __init__(self, kind: StorageType, storages: Sequence[Storage]) -> None:
        why = (
            "; ".join(f"{one.name} {one.objection}" for one in storages if one.type is kind)
            or "none is registered"
        )
        super().__init__(f"waits for a storage of type {kind}: {why}", type=kind)


def choose_storage(kind: StorageType, storages: Sequence[Storage]) -> Storage:
    """Of this type the one with the most room (no stated capacity: the most of all), then by name.
    Raises ``NoStorageOfType``."""
    usable = [one for one in storages if one.type is kind and one.objection is None]
    if not usable:
        raise NoStorageOfType(kind, storages)
    return min(
        usable, key=lambda one: (one.capacity is not None, one.used - (one.capacity or 0), one.name)
    )
