"""Removal of asset versions, and deletion of their files when no chain needs them."""

from datetime import timedelta

import structlog

from sluice.contracts.common.problems import Conflict, NotAvailable, NotFound
from sluice.contracts.data.assets import AssetVersion, RemovedAsset
from wfms.operator.assets.db import assets
from wfms.operator.assets.domain.errors import AssetUnknown
from wfms.operator.assets.usecases.read_assets import use_of
from wfms.operator.assets.usecases.receive_asset import give_up
from wfms.operator.context import OperatorContext
from wfms.operator.identity.db.name_owners import NamedKind
from wfms.operator.identity.usecases.name_owners import require_name

log = structlog.get_logger(__name__)

#: Versions and drafts that one call of the loop processes.
BATCH = 50
#: The time after which a draft that nobody continues is abandoned.
PATIENCE = timedelta(hours=24)


async def remove_asset(
    context: OperatorContext, name: str, *, version: int | None = None
) -> RemovedAsset:
    """Remove a version of an asset, or all versions, so that new chains do not use them.

    Files that a running chain needs are kept until it ends; other files are deleted.

    Raises:
        AssetUnknown: There is no such asset or version.
        NameTakenByOthers: The principal may not change the asset.
    """
    async with context.database.transaction() as transaction:
        await assets.lock_asset(transaction.connection, name)
        await require_name(transaction.connection, NamedKind.ASSET, name)
        removed = await assets.mark_removed(transaction.connection, name, version=version)
        known = removed or await assets.versions_of(transaction.connection, name)
    if not removed:
        numbers = {each.version for each in known}
        if not numbers:
            raise AssetUnknown(name)
        raise AssetUnknown(name, version, gone=version is None or version in numbers)
    log.info("asset.removed", asset=name, versions=[each.version for each in removed])
    kept = [each for each in removed if not await _delete(context, each)]
    uses = [await use_of(context, each) for each in kept]
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
    """Delete the files of removed versions that no chain needs any more, and of abandoned drafts.

    Returns:
        Whether there may be more.
    """
    async with context.database.connection() as connection:
        versions = await assets.versions_to_delete(connection, limit=BATCH)
        drafts = await assets.give_up_stale(connection, after=PATIENCE, limit=BATCH)
    deleted = [await _delete(context, version) for version in versions]
    for uid in drafts:
        await give_up(context, uid)
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
