"""Delete a data set."""

from dms.db.claims import ClaimLost, DatasetClaim, extend_claim
from dms.db.releases import forget_all_reads
from dms.db.replicas import clear_late_files, finish_deletion
from dms.usecases.context import DmsContext
from dms.usecases.removal.remove_replicas import remove_replicas
from dms.usecases.removal.sweep_folders import sweep_folders


async def remove_dataset(context: DmsContext, claim: DatasetClaim) -> None:
    """Delete a claimed data set with its replicas and folders.

    Replicas that other data sets hold stay. Files that are registered meanwhile are removed, too.
    The call may be interrupted anywhere and repeated.

    Raises:
        ClaimLost: The claim ended.
        OutsideStorages: A folder is outside the storages.
        StorageError: Some files could not be removed.
    """
    done = False
    while not done:
        async with context.database.connection() as connection:
            if not await clear_late_files(connection, claim):
                raise ClaimLost(claim)
        await remove_replicas(context, claim)
        await sweep_folders(context, claim, claim.folders, remove=True)
        async with context.database.transaction() as transaction:
            await extend_claim(transaction.connection, claim)
            done = await finish_deletion(
                transaction.connection, claim, sweep_again=context.sweep_again_seconds
            )
            await forget_all_reads(transaction.connection, claim.uid)
