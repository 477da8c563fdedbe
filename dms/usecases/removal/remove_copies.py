"""Remove the replicas of a data set's files that no other data set holds."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from uuid import UUID

from dms.db.claims import DatasetClaim, extend_claim
from dms.db.replicas import Copy, find_next_page, mark_copies_deleted, mark_copies_deleting
from dms.db.storages import add_usage, list_roots
from dms.domain.places import Root
from dms.usecases.context import DmsContext
from sluice.storage import OutsideStorage, StorageError

#: Files per page.
PAGE = 1_000


async def remove_copies(
    context: DmsContext, claim: DatasetClaim, *, keep: tuple[UUID, str] | None = None
) -> None:
    """Mark replicas, remove them, and mark them deleted.

    A missing replica counts as removed. A replica on a read-only storage, or in the folder of one,
    is only marked. Replicas that another live data set holds stay, and so do those below ``keep``
    (storage, and folder with its slash). The call may be interrupted anywhere and repeated.

    Raises:
        ClaimLost: The claim ended.
        StorageError: Some replicas could not be removed; the others were. ``OutsideStorage`` has
            precedence.
    """
    after = (-1, "")
    failed: list[StorageError] = []
    while True:
        async with context.database.transaction() as transaction:
            await extend_claim(transaction.connection, claim)
            page = await find_next_page(transaction.connection, claim.uid, after, limit=PAGE)
            if page is None:
                break
            copies = await mark_copies_deleting(
                transaction.connection, claim.uid, page.file_ids, keep=keep
            )
            roots = await list_roots(transaction.connection)
        failed += await remove_marked(context, copies, roots)
        after = page.last
    if failed:
        raise next((error for error in failed if isinstance(error, OutsideStorage)), failed[0])


async def remove_marked(
    context: DmsContext, copies: list[Copy], roots: Mapping[UUID, Root]
) -> list[StorageError]:
    """Remove replicas that are marked, mark them deleted, and return the errors."""
    by_root: dict[UUID, list[Copy]] = defaultdict(list)
    for copy in copies:
        by_root[copy.storage_id].append(copy)
    failed: list[StorageError] = []
    for storage_id, present in by_root.items():
        root = roots[storage_id]
        removed = present
        if not root.read_only:
            urls = [root.build_url(copy.path) for copy in present]
            outcomes = await context.files.remove(
                root, urls, spared_folders=context.storage_monitor.read_only
            )
            removed = [copy for copy, error in zip(present, outcomes, strict=True) if error is None]
            failed += [error for error in outcomes if error is not None]
        await _forget(context, removed)
    return failed


async def _forget(context: DmsContext, copies: list[Copy]) -> None:
    async with context.database.transaction() as transaction:
        freed: Counter[UUID] = Counter()
        for storage_id, size in await mark_copies_deleted(
            transaction.connection, [copy.id for copy in copies]
        ):
            freed[storage_id] -= size
        await add_usage(transaction.connection, freed)
