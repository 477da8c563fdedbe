"""The background loops of the DMS.

Each loop that works on files takes one data set, or some released files, at a time. Several loops
and several instances share the work.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from uuid import uuid4

from dms.db.claims import DatasetClaim, claim_sweep, claim_work
from dms.db.storages import fold_usage
from dms.settings import DmsSettings
from dms.usecases.context import DmsContext
from dms.usecases.datasets.close_complete_datasets import BATCH, close_complete_datasets
from dms.usecases.datasets.remove_dataset import remove_dataset
from dms.usecases.removal.claimed_work import Work, work_on
from dms.usecases.removal.remove_released import remove_released
from dms.usecases.removal.sweep_dataset import SWEPT, sweep_dataset
from dms.usecases.storages.watch_watermarks import watch_watermarks
from dms.usecases.uploads.upload_dataset import upload_dataset
from sluice.contracts.common.states import DatasetState
from sluice.servicekit.database import Connection, Database
from sluice.servicekit.running.loop import LoopDeclaration, do_nothing

#: Seconds between checks of where the storages are.
LOOK_PERIOD = 30.0

#: Seconds between checks of the recorded changes of usage, and how many rows may exist.
FOLD_PERIOD = 10.0
FOLD_ABOVE = 100

#: Seconds between checks of the watermarks.
LEVEL_PERIOD = 5.0

CLOSE, RELEASE, DELETE, UPLOAD = "dms.closer", "dms.releaser", "dms.deleter", "dms.uploader"
_SWEEP = "dms.sweeper"

Take = Callable[[Connection], Awaitable[DatasetClaim | None]]


def declare_loops(context: DmsContext, settings: DmsSettings) -> list[LoopDeclaration]:
    """Return the declarations of the loops."""
    database, period, count = context.database, settings.poll_seconds, settings.workers
    levels = partial(watch_watermarks, database, context.storage_monitor.free)
    return [
        LoopDeclaration(CLOSE, period, partial(close_once, database), wakes=(UPLOAD, _SWEEP)),
        LoopDeclaration(RELEASE, period, partial(remove_released, context)),
        LoopDeclaration(DELETE, period, partial(delete_once, context), count=count),
        LoopDeclaration(UPLOAD, period, partial(upload_once, context), count=count),
        LoopDeclaration(_SWEEP, period, partial(sweep_once, context)),
        LoopDeclaration("dms.usage", FOLD_PERIOD, partial(fold_once, database)),
        LoopDeclaration("dms.storages", LOOK_PERIOD, context.storage_monitor.check_all),
        LoopDeclaration("dms.levels", LEVEL_PERIOD, levels),
    ]


async def close_once(database: Database, on_found: Callable[[], None] = do_nothing) -> bool:
    """Close complete data sets, call ``on_found`` if there were any; return if more may exist."""
    closed = await close_complete_datasets(database)
    if closed:
        on_found()
    return closed == BATCH


async def work_once(
    context: DmsContext, take: Take, work: Work, *, on_found: Callable[[], None] = do_nothing
) -> bool:
    """Claim a data set, call ``on_found``, and work on it; return False if no work is due."""
    async with context.database.connection() as connection:
        claim = await take(connection)
    if claim is None:
        return False
    on_found()
    await work_on(context, claim, work)
    return True


async def delete_once(context: DmsContext, on_found: Callable[[], None] = do_nothing) -> bool:
    """Delete one data set; return False if none is due."""
    return await work_once(
        context,
        lambda connection: claim_work(
            connection, uuid4(), state=DatasetState.DELETING, seconds=context.claim_seconds
        ),
        remove_dataset,
        on_found=on_found,
    )


async def upload_once(context: DmsContext, on_found: Callable[[], None] = do_nothing) -> bool:
    """Upload one data set; return False if none is due."""
    return await work_once(
        context,
        lambda connection: claim_work(
            connection, uuid4(), state=DatasetState.UPLOADING, seconds=context.claim_seconds
        ),
        upload_dataset,
        on_found=on_found,
    )


async def sweep_once(context: DmsContext) -> bool:
    """Sweep the folder of one data set; return False if none is due."""
    return await work_once(
        context,
        lambda connection: claim_sweep(
            connection, uuid4(), states=SWEPT, seconds=context.claim_seconds
        ),
        sweep_dataset,
    )


async def fold_once(database: Database) -> None:
    """Add up the recorded changes of usage if there are many."""
    async with database.connection() as connection:
        await fold_usage(connection, more_than=FOLD_ABOVE)
