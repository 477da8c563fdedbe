"""Chooses the storage that a step's data goes to."""

from collections.abc import Sequence

from sluice.contracts.datasets import Storage
from sluice.contracts.problems import NotAvailable
from sluice.contracts.states import StorageType


class NoStorageOfType(NotAvailable):
    """No storage of this type can take data now."""

    def __init__(self, kind: StorageType, storages: Sequence[Storage]) -> None:
        why = (
            "; ".join(
                f"{storage.name} {storage.objection}"
                for storage in storages
                if storage.type is kind
            )
            or "none is registered"
        )
        super().__init__(f"waits for a storage of type {kind}: {why}", type=kind)


def choose_storage(kind: StorageType, storages: Sequence[Storage]) -> Storage:
    """Return the storage of a type with the most room (no stated capacity: the most of all).

    One that is full for large files comes last: a pilot says so, and what goes there may be small.

    Raises:
        NoStorageOfType: None can take data now.
    """
    usable = [storage for storage in storages if storage.type is kind and storage.objection is None]
    if not usable:
        raise NoStorageOfType(kind, storages)
    return min(
        usable,
        key=lambda storage: (
            storage.full_for is not None,
            storage.capacity is not None,
            storage.used - (storage.capacity or 0),
            storage.name,
        ),
    )
