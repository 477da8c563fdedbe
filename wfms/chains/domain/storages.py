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
    """Of this type the one with the most room (no stated capacity: the most of all), then by name.
    Raises ``NoStorageOfType``."""
    usable = [storage for storage in storages if storage.type is kind and storage.objection is None]
    if not usable:
        raise NoStorageOfType(kind, storages)
    return min(
        usable,
        key=lambda storage: (
            storage.capacity is not None,
            storage.used - (storage.capacity or 0),
            storage.name,
        ),
    )
