"""Remove versions of an asset."""

import structlog

from sluice.contracts.data.assets import RemovedAsset
from wfms.operator.assets.db import assets
from wfms.operator.assets.domain.errors import AssetUnknown
from wfms.operator.assets.usecases.get_version_use import get_version_use
from wfms.operator.assets.usecases.version_deletion import delete_version_files
from wfms.operator.context import OperatorContext
from wfms.operator.identity.db.name_owners import NamedKind
from wfms.operator.identity.usecases.name_owners import require_name

log = structlog.get_logger(__name__)


async def remove_asset(
    context: OperatorContext, name: str, *, version: int | None = None
) -> RemovedAsset:
    """Remove a version of an asset, or all versions, so that new chains do not use them.

    Files that a running chain needs are kept until it ends; other files are deleted.

    Raises:
        AssetUnknown: There is no such asset or version.
        NameOwnedByOthers: The principal may not change the asset.
    """
    async with context.database.transaction() as transaction:
        await assets.lock_asset(transaction.connection, name)
        await require_name(transaction.connection, NamedKind.ASSET, name)
        removed = await assets.mark_removed(transaction.connection, name, version=version)
        versions = removed or await assets.list_versions(transaction.connection, name)
    if not removed:
        numbers = {each.version for each in versions}
        if not numbers:
            raise AssetUnknown(name)
        raise AssetUnknown(name, version, is_removed=version is None or version in numbers)
    log.info("asset.removed", asset=name, versions=[each.version for each in removed])
    retained = [each for each in removed if not await delete_version_files(context, each)]
    uses = [await get_version_use(context, each) for each in retained]
    return RemovedAsset(
        removed=removed,
        kept=[
            use.model_copy(
                update={"chains": [chain for chain in use.chains if not chain.state.final]}
            )
            for use in uses
        ],
    )
