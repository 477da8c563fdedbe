"""Takes versions of an asset back, and deletes their files when no chain needs them."""

from datetime import timedelta

import structlog

from sluice.contracts.assets import AssetVersion, RemovedAsset
from sluice.contracts.problems import Conflict, NotAvailable, NotFound
from wfms.operator.db import assets
from wfms.operator.db.name_owners import NamedKind
from wfms.operator.domain.errors import AssetUnknown
from wfms.operator.usecases.context import OperatorContext
from wfms.operator.usecases.name_owners import require_name
from wfms.operator.usecases.read_assets import use_of
from wfms.operator.usecases.receive_asset import give_up

log = structlog.get_logger(__name__)

#: Versions, and drafts, looked at in one turn.
BATCH = 50
#: How long nobody has gone on with a version that was begun before it is given up.
PATIENCE = timedelta(hours=24)


async def remove_asset(
    context: OperatorContext, name: str, *, version: int | None = None
) -> RemovedAsset:
    """``version`` None: all. Precondition: none. Effect: no chain that is made from now on gets
    them. The files of those that no chain needs which has not ended are being deleted; the others
    stay until then. Messages: none. Raises ``AssetUnknown``,
    ``NameOfOthers``.
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
    """Effect: files of versions that were taken back go whose chains have ended, and drafts that
    nobody goes on with. Messages: none. Raises ``NotAvailable``. True when there may be more.
    """
    async with context.database.connection() as connection:
        versions = await assets.versions_to_delete(connection, limit=BATCH)
        drafts = await assets.give_up_stale(connection, after=PATIENCE, limit=BATCH)
    deleted = [await _delete(context, version) for version in versions]
    for uid in drafts:
        await give_up(context, uid)
    return len(versions) == BATCH and all(deleted)


async def _delete(context: OperatorContext, version: AssetVersion) -> bool:
    """False while chains need it. The chain service decides: it makes none on a data set that it
    has let go.
    """
    try:
        await context.chains.delete_asset(version.dataset_uid)
    except Conflict as conflict:
        log.info("asset.kept", asset=str(version.ref), reason=conflict.detail)
        return False
    except NotAvailable as error:  # the loop asks again
        log.warning("asset.not_deleted", asset=str(version.ref), reason=error.detail)
        return False
    except NotFound:  # somebody has it forgotten
        pass
    async with context.database.connection() as connection:
        await assets.mark_deleted(connection, version.dataset_uid)
    return True
