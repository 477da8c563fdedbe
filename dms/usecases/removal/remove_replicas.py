"""Remove the replicas of a data set's files that no other data set holds."""

from uuid import UUID

from dms.db.claims import DatasetClaim, extend_claim
from dms.db.replicas import find_next_page, mark_replicas_deleting
from dms.db.storages import list_roots
from dms.usecases.context import DmsContext
from dms.usecases.removal.remove_marked_replicas import remove_marked_replicas
from sluice.storage import OutsideStorage, StorageError

#: Files per page.
PAGE = 1_000


async def remove_replicas(
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
            replicas = await mark_replicas_deleting(
                transaction.connection, claim.uid, page.file_ids, keep=keep
            )
            roots = await list_roots(transaction.connection)
        failed += await remove_marked_replicas(context, replicas, roots)
        after = page.last
    if failed:
        raise next((error for error in failed if isinstance(error, OutsideStorage)), failed[0])
