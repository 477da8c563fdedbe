"""Remove the replicas of released files, of all data sets together."""

from collections import defaultdict
from uuid import UUID

import structlog

from dms.db.releases import Removal, drop_removals, take_removals
from dms.db.replicas import mark_replicas_deleting
from dms.db.storages import list_roots
from dms.usecases.context import DmsContext
from dms.usecases.removal.remove_marked_replicas import remove_marked_replicas

log = structlog.get_logger(__name__)

#: Files taken at a time.
BATCH = 1_000


async def remove_released(context: DmsContext) -> bool:
    """Remove replicas of released files, and return whether there may be more.

    Replicas that another live data set holds stay. Several instances may run at once. A
    failed removal is tried again after ``claim_seconds``, or with the deletion of the data set.
    The call may be interrupted anywhere and repeated.
    """
    async with context.database.connection() as connection:
        removals = await take_removals(connection, limit=BATCH, seconds=context.claim_seconds)
    for uid, file_ids in _by_dataset(removals).items():
        async with context.database.transaction() as transaction:
            replicas = await mark_replicas_deleting(
                transaction.connection, uid, file_ids, keep=None
            )
            roots = await list_roots(transaction.connection)
        failed = await remove_marked_replicas(context, replicas, roots)
        async with context.database.connection() as connection:
            await drop_removals(connection, uid, file_ids)
        if failed:
            log.warning(
                "dataset.release_postponed",
                dataset=str(uid),
                files=len(failed),
                reason=str(failed[0]),
            )
    return len(removals) == BATCH


def _by_dataset(removals: list[Removal]) -> dict[UUID, list[int]]:
    ids_by_dataset: dict[UUID, list[int]] = defaultdict(list)
    for removal in removals:
        ids_by_dataset[removal.dataset].append(removal.file_id)
    return ids_by_dataset
