"""List the assets."""

from itertools import groupby

from sluice.contracts.data.assets import Asset
from sluice.servicekit.database import Database
from wfms.operator.assets.db import assets


async def list_assets(database: Database) -> list[Asset]:
    """Return the assets by name, including those whose versions were all removed."""
    async with database.connection() as connection:
        all_versions = await assets.list_all_versions(connection)
    return [
        Asset(name=name, versions=list(versions))
        for name, versions in groupby(all_versions, lambda each: each.name)
    ]
