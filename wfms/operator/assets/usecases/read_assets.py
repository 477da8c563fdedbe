"""Assets, their histories and the chains that use each version."""

import asyncio
from itertools import groupby

from sluice.contracts.data.assets import Asset, AssetUse, AssetUses, AssetVersion
from sluice.servicekit.database import Database
from wfms.operator.assets.db import assets
from wfms.operator.assets.domain.errors import AssetUnknown
from wfms.operator.context import OperatorContext

#: Chains that are listed for each version.
MAX_NAMED = 20


async def read_assets(database: Database) -> list[Asset]:
    """Return the assets by name, including those whose versions were all removed."""
    async with database.connection() as connection:
        all_versions = await assets.list_all_versions(connection)
    return [
        Asset(name=name, versions=list(versions))
        for name, versions in groupby(all_versions, lambda each: each.name)
    ]


async def read_asset(database: Database, name: str) -> Asset:
    """Return an asset.

    Raises:
        AssetUnknown: There is no such asset.
    """
    async with database.connection() as connection:
        versions = await assets.list_versions(connection, name)
    if not versions:
        raise AssetUnknown(name)
    return Asset(name=name, versions=versions)


async def read_uses(context: OperatorContext, name: str) -> AssetUses:
    """Return the versions of an asset, each with the chains that use it.

    Raises:
        AssetUnknown: There is no such asset.
        NotAvailable: The chain service does not answer.
    """
    asset = await read_asset(context.database, name)
    uses = await asyncio.gather(*(read_use(context, version) for version in asset.versions))
    return AssetUses(name=name, versions=list(uses))


async def read_use(context: OperatorContext, version: AssetVersion) -> AssetUse:
    """Return a version with the chains that use it.

    Raises:
        NotAvailable: The chain service does not answer.
    """
    page = await context.chains.list_chains(uses=version.dataset_uid, limit=MAX_NAMED)
    return AssetUse(version=version, chains=page.chains, more=page.after is not None)
