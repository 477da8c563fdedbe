"""Removal of asset versions, and deletion of their files when no chain needs them."""

from datetime import timedelta

import structlog

from sluice.contracts.common.problems import Conflict, NotAvailable, NotFound
from sluice.contracts.data.assets import AssetVersion, RemovedAsset
from wfms.operator.assets.db import assets
from wfms.operator.assets.domain.errors import AssetUnknown
from wfms.operator.assets.usecases.read_assets import read_use
from wfms.operator.assets.usecases.receive_asset import delete_abandoned_draft
from wfms.operator.context import OperatorContext
from wfms.operator.identity.db.name_owners import NamedKind
from wfms.operator.identity.usecases.name_owners import require_name

log = structlog.get_logger(__name__)

#: Versions and drafts that one call of the loop processes.
BATCH = 50
#: The time after which a draft that is not continued is abandoned.
PATIENCE = timedelta(hours=24)


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
    retained = [each for each in removed if not await _delete(context, each)]
    uses = [await read_use(context, each) for each in retained]
    return RemovedAsset(
        removed=removed,
        kept=[
            use.model_copy(
                update={"chains": [chain for chain in use.chains if not chain.state.final]}
            )
            for use in uses
        ],
    )


async def delete_removed(context: OperatorContext) -> bool:
    """Delete the files of removed versions that chains no longer need, and of abandoned drafts.

    Returns:
        Whether there may be more.
    """
    async with context.database.connection() as connection:
        versions = await assets.list_versions_to_delete(connection, limit=BATCH)
        drafts = await assets.abandon_stale_drafts(connection, after=PATIENCE, limit=BATCH)
    deleted = [await _delete(context, version) for version in versions]
    for uid in drafts:
        await delete_abandoned_draft(context, uid)
    return len(versions) == BATCH and all(deleted)


async def _delete(context: OperatorContext, version: AssetVersion) -> bool:
    """Delete the files of a version, and return False if chains need them or on a transient error.

    The chain service decides, because it creates no chain on a data set that it has released.
    """
    try:
        await context.chains.delete_asset(version.dataset_uid)
    except Conflict as conflict:
        log.info("asset.kept", asset=str(version.ref), reason=conflict.detail)
        return False
    except NotAvailable as error:  # the loop tries again
        log.warning("asset.not_deleted", asset=str(version.ref), reason=error.detail)
        return False
    except NotFound:  # the data set is already gone
        pass
    async with context.database.connection() as connection:
        await assets.mark_deleted(connection, version.dataset_uid)
    return True
