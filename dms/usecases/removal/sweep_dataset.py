"""Sweep the folders of a data set that is at rest."""

from dms.db.claims import DatasetClaim
from dms.db.replicas import clear_late_files, finish_sweep
from dms.usecases.context import DmsContext
from dms.usecases.removal.remove_replicas import remove_replicas
from dms.usecases.removal.sweep_folders import sweep_folders
from sluice.contracts.common.states import DatasetState

#: States in which a loop sweeps a folder. Uploads and deletions sweep it themselves.
SWEPT = [DatasetState.CLOSED, DatasetState.UPLOADED, DatasetState.DELETED]


async def sweep_dataset(context: DmsContext, claim: DatasetClaim) -> None:
    """Sweep the folders of a claimed data set in one of the states ``SWEPT``.

    Unregistered files of attempts are removed. For a deleted data set, files that were registered
    too late and the folders are removed, too.

    Raises:
        ClaimLost: The claim ended.
        StorageError: Some files could not be removed.
    """
    deleted = claim.state is DatasetState.DELETED
    if deleted:
        async with context.database.connection() as connection:
            await clear_late_files(connection, claim)
        await remove_replicas(context, claim)
    await sweep_folders(context, claim, claim.folders, remove=deleted)
    async with context.database.connection() as connection:
        await finish_sweep(connection, claim, sweep_again=context.sweep_again_seconds)
