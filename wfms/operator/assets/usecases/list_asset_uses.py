"""List the chains that use each version of an asset."""

import asyncio

from sluice.contracts.data.assets import AssetUses
from wfms.operator.assets.usecases.get_asset import get_asset
from wfms.operator.assets.usecases.get_version_use import get_version_use
from wfms.operator.context import OperatorContext


async def list_asset_uses(context: OperatorContext, name: str) -> AssetUses:
    """Return the versions of an asset, each with the chains that use it.

    Raises:
        AssetUnknown: There is no such asset.
        NotAvailable: The chain service does not answer.
    """
    asset = await get_asset(context.database, name)
    uses = await asyncio.gather(*(get_version_use(context, version) for version in asset.versions))
    return AssetUses(name=name, versions=list(uses))
