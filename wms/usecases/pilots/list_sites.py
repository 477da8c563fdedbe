"""List the sites that pilots come from."""

from sluice.contracts.pilots.sites import SiteList
from sluice.servicekit.database import Database
from wms.db.pilots import sites


async def list_sites(database: Database) -> SiteList:
    """Return all sites."""
    async with database.connection() as connection:
        return SiteList(sites=await sites.list_all_sites(connection))
