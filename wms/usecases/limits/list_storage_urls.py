"""Tell a pilot which storages there are."""

from uuid import UUID

from sluice.clients.dms import DmsClient
from sluice.contracts.common.states import StorageType
from sluice.contracts.pilots.output_files import StorageUrls
from wms.db.pilots.pilots import see_pilot
from wms.usecases.context import WmsContext


async def list_storage_urls(context: WmsContext, dms: DmsClient, pilot: UUID) -> StorageUrls:
    """Return the URLs of storages that jobs write to, or wrote to before these were disabled.

    Input and read-only storages are left out. The pilot counts as seen.

    Raises:
        NotFound: The pilot has not registered.
        NotAvailable: The DMS does not answer.
    """
    async with context.database.connection() as connection:
        await see_pilot(connection, pilot)
    storages = await dms.list_storages(all=True)
    return StorageUrls(
        urls=[
            storage.url
            for storage in storages
            if storage.type is not StorageType.INPUT and not storage.read_only
        ]
    )
