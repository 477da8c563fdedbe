"""The choice of the storage for a step's data."""

from collections.abc import Sequence

from sluice.contracts.common.problems import NotAvailable
from sluice.contracts.common.states import StorageType
from sluice.contracts.data.datasets import Storage


class NoStorageOfType(NotAvailable):
    """No storage of this type can take data now."""

    def __init__(self, kind: StorageType, storages: Sequence[Storage]) -> None:
        reason = (
            "; ".join(
                f"{storage.name} {storage.rejection_reason}"
                for storage in storages
                if storage.type is kind
            )
            or "none is registered"
        )
        super().__init__(f"waits for a storage of type {kind}: {reason}", type=kind)


def choose_storage(kind: StorageType, storages: Sequence[Storage]) -> Storage:
    """Return the storage of a type with the most free space.

    A storage without stated capacity counts as having the most. A storage that a pilot reported as
    full for large files comes last: small files may still fit.

    Raises:
        NoStorageOfType: No storage of this type can take data now.
    """
    usable = [
        storage for storage in storages if storage.type is kind and storage.rejection_reason is None
    ]
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
