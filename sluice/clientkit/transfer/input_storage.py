"""The choice of the input storage for an upload."""

from collections.abc import Sequence

from sluice.clientkit.connection import Connection
from sluice.contracts.common.problems import NotAvailable
from sluice.contracts.common.states import StorageType
from sluice.contracts.data.datasets import Storage


async def choose_input_storage(connection: Connection, *, needed_bytes: int | None) -> Storage:
    """Return the input storage with the most free space whose capacity suffices.

    Args:
        connection: The connection to the system.
        needed_bytes: The size of the upload in bytes. None if it is not known yet, so that any
            that is not full will do.

    Raises:
        NotAvailable: There is no such storage. The message says why.
    """
    stores = [
        storage
        for storage in await connection.dms.list_storages(type=StorageType.INPUT)
        if not storage.read_only
    ]
    if not stores:
        raise await _no_storage_error(connection)
    return choose_with_space(stores, needed_bytes=needed_bytes)


def choose_with_space(stores: Sequence[Storage], *, needed_bytes: int | None) -> Storage:
    """Return the first storage with enough space, like ``choose_input_storage``."""
    for storage in stores:
        if storage.unused is None or (storage.unused > 0 and storage.unused >= (needed_bytes or 0)):
            return storage
    size = "more" if needed_bytes is None else f"these {needed_bytes} bytes"
    space_texts = ", ".join(
        f"{storage.name} has {max(storage.unused or 0, 0)} left of {storage.capacity}"
        for storage in stores
    )
    raise NotAvailable(
        f"no input storage has space for {size}: {space_texts}. Delete data sets that are not"
        " needed (`sluice dataset delete`), or register another storage (`sluice storage add`)"
    )


async def _no_storage_error(connection: Connection) -> NotAvailable:
    storages = [
        storage
        for storage in await connection.dms.list_storages(type=StorageType.INPUT, all=True)
        if not storage.read_only
    ]
    if disabled := [storage.name for storage in storages if not storage.enabled]:
        return NotAvailable(
            f"input storage {disabled[0]} is disabled: `sluice storage enable {disabled[0]}` lets"
            " data sets in"
        )
    if storages:
        return NotAvailable(
            f"input storage {storages[0].name} takes no data sets now: {storages[0].warning}"
        )
    return NotAvailable(
        "the system has no input storage to write to: register one with `sluice storage add`"
    )
