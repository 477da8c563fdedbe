"""Remove replicas that are marked as being deleted."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from uuid import UUID

from dms.db.replicas import Replica, mark_replicas_deleted
from dms.db.storages import add_usage
from dms.domain.places import Root
from dms.usecases.context import DmsContext
from sluice.storage import StorageError


async def remove_marked_replicas(
    context: DmsContext, replicas: list[Replica], roots: Mapping[UUID, Root]
) -> list[StorageError]:
    """Remove replicas that are marked, mark them deleted, and return the errors."""
    by_root: dict[UUID, list[Replica]] = defaultdict(list)
    for replica in replicas:
        by_root[replica.storage_id].append(replica)
    failed: list[StorageError] = []
    for storage_id, present in by_root.items():
        root = roots[storage_id]
        removed = present
        if not root.read_only:
            urls = [root.build_url(replica.path) for replica in present]
            outcomes = await context.files.remove(
                root, urls, spared_folders=context.storage_monitor.read_only
            )
            removed = [
                replica for replica, error in zip(present, outcomes, strict=True) if error is None
            ]
            failed += [error for error in outcomes if error is not None]
        await _forget(context, removed)
    return failed


async def _forget(context: DmsContext, replicas: list[Replica]) -> None:
    async with context.database.transaction() as transaction:
        freed: Counter[UUID] = Counter()
        for storage_id, size in await mark_replicas_deleted(
            transaction.connection, [replica.id for replica in replicas]
        ):
            freed[storage_id] -= size
        await add_usage(transaction.connection, freed)
