"""Reads what assets there are, their histories, and who was given which version."""

import asyncio
from itertools import groupby

from sluice.contracts.assets import Asset, AssetUse, AssetUses, AssetVersion
from sluice.servicekit.database import Database
from wfms.operator.db import assets
from wfms.operator.domain.errors import AssetUnknown
from wfms.operator.usecases.context import OperatorContext

#: Chains named of each version.
MOST_NAMED = 20


async def read_assets(database: Database) -> list[Asset]:
    """By name; those of which all versions were taken back are among them."""
    async with database.connection() as connection:
        found = await assets.all_versions(connection)
    return [
        Asset(name=name, versions=list(versions))
        for name, versions in groupby(found, lambda each: each.name)
    ]


async def read_asset(database: Database, name: str) -> Asset:
    """Raises ``AssetUnknown``."""
    async with database.connection() as connection:
        found = await assets.versions_of(connection, name)
    if not found:
        raise AssetUnknown(name)
    return Asset(name=name, versions=found)


async def read_uses(context: OperatorContext, name: str) -> AssetUses:
    """The versions, each with the chains that were given it. Raises ``AssetUnknown``,
    ``NotAvailable``."""
    asset = await read_asset(context.database, name)
    uses = await asyncio.gather(*(use_of(context, version) for version in asset.versions))
    return AssetUses(name=name, versions=list(uses))


async def use_of(context: OperatorContext, version: AssetVersion) -> AssetUse:
    """Raises ``NotAvailable``."""
    page = await context.chains.chains_that_use(version.dataset_uid, limit=MOST_NAMED)
    return AssetUse(version=version, chains=page.chains, more=page.after is not None)
