"""Tells a pilot which storages there are."""

from uuid import UUID

from sluice.clients.dms import DmsClient
from sluice.contracts.pilots import StorageUrls
from sluice.contracts.states import StorageType
from wms.db.pilots import see_pilot
from wms.usecases.context import WmsContext


async def list_storage_urls(context: WmsContext, dms: DmsClient, pilot: UUID) -> StorageUrls:
    """Precondition: none. Effect: the pilot has been seen. Messages: none. Those that jobs write
    to, or wrote to before they were disabled: nothing of inputs, and nothing that is only read.
    Raises ``NotFound`` for an unknown pilot, ``NotAvailable`` where the DMS does not answer."""
    async with context.database.connection() as connection:
        await see_pilot(connection, pilot)
    storages = await dms.storages(everything=True)
    return StorageUrls(
        urls=[
            storage.url
            for storage in storages
            if storage.type is not StorageType.INPUT and not storage.read_only
        ]
    )
