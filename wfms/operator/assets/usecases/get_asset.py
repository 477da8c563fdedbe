"""Return an asset."""

from sluice.contracts.data.assets import Asset
from sluice.servicekit.database import Database
from wfms.operator.assets.db import assets
from wfms.operator.assets.domain.errors import AssetUnknown


async def get_asset(database: Database, name: str) -> Asset:
    """Return an asset.

    Raises:
        AssetUnknown: There is no such asset.
    """
    async with database.connection() as connection:
        versions = await assets.list_versions(connection, name)
    if not versions:
        raise AssetUnknown(name)
    return Asset(name=name, versions=versions)
