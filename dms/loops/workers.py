"""Loops that work on files.

Each loop takes one data set, or some released files, at a time. Several loops and several
instances share the work.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from uuid import uuid4

from dms.db.claims import DatasetClaim, claim_sweep, claim_work
from dms.db.storages import fold_usage
from dms.usecases.context import DmsContext
from dms.usecases.datasets.remove_dataset import remove_dataset
from dms.usecases.removal.claimed_work import Work, work_on
from dms.usecases.removal.remove_released import remove_released
from dms.usecases.removal.sweep_folder import SWEPT, sweep_dataset
from dms.usecases.storages.list_storages import Room
from dms.usecases.storages.watch_storages import StorageMonitor
from dms.usecases.storages.watch_water_marks import watch_water_marks
from dms.usecases.uploads.upload_dataset import upload_dataset
from sluice.contracts.common.states import DatasetState
from sluice.servicekit.database import Connection, Database
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.running.loop import Loop, no_help, sharing_loops

#: Seconds between checks of where the storages lie.
LOOK_PERIOD = 30.0

#: Seconds between checks of the recorded changes of usage, and how many rows may exist.
FOLD_PERIOD = 10.0
FOLD_ABOVE = 100

#: Seconds between checks of the watermarks.
LEVEL_PERIOD = 5.0

Take = Callable[[Connection], Awaitable[DatasetClaim | None]]


async def work_once(
    context: DmsContext, take: Take, work: Work, *, on_found: Callable[[], None] = no_help
) -> bool:
    """Claim a data set, call ``on_found``, and work on it; return False if no work is due."""
    async with context.database.connection() as connection:
        claim = await take(connection)
    if claim is None:
        return False
    on_found()
    await work_on(context, claim, work)
    return True


async def delete_once(context: DmsContext, on_found: Callable[[], None] = no_help) -> bool:
    """Delete one data set; return False if none is due."""
    return await work_once(
        context,
        lambda connection: claim_work(
            connection, uuid4(), state=DatasetState.DELETING, seconds=context.claim_seconds
        ),
        remove_dataset,
        on_found=on_found,
    )


async def upload_once(context: DmsContext, on_found: Callable[[], None] = no_help) -> bool:
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


async def fold_once(database: Database) -> bool:
    """Add up the recorded changes of usage if there are many."""
    async with database.connection() as connection:
        await fold_usage(connection, more_than=FOLD_ABOVE)
    return False


def deleters(
    context: DmsContext, *, count: int, period: float, metrics: ServiceMetrics
) -> list[Loop]:
    """Create the loops that delete data sets."""
    tick = partial(delete_once, context)
    return sharing_loops("dms.deleter", tick, count=count, period=period, metrics=metrics)


def uploaders(
    context: DmsContext, *, count: int, period: float, metrics: ServiceMetrics
) -> list[Loop]:
    """Create the loops that upload data sets."""
    tick = partial(upload_once, context)
    return sharing_loops("dms.uploader", tick, count=count, period=period, metrics=metrics)


def sweeper(context: DmsContext, *, period: float, metrics: ServiceMetrics) -> Loop:
    """Create the loop that sweeps folders."""
    return Loop("dms.sweeper", partial(sweep_once, context), period=period, metrics=metrics)


def releaser(context: DmsContext, *, period: float, metrics: ServiceMetrics) -> Loop:
    """Create the loop that removes released files."""
    return Loop("dms.releaser", partial(remove_released, context), period=period, metrics=metrics)


def usage_folder(database: Database, *, metrics: ServiceMetrics) -> Loop:
    """Create the loop that adds up changes of usage."""
    return Loop("dms.usage", partial(fold_once, database), period=FOLD_PERIOD, metrics=metrics)


def storage_looker(watch: StorageMonitor, *, metrics: ServiceMetrics) -> Loop:
    """Create the loop that checks where the storages lie."""
    return Loop("dms.storages", watch.look, period=LOOK_PERIOD, metrics=metrics)


def level_watcher(database: Database, free: Room, *, metrics: ServiceMetrics) -> Loop:
    """Create the loop that compares storages with their watermarks."""
    return Loop(
        "dms.levels",
        partial(watch_water_marks, database, free),
        period=LEVEL_PERIOD,
        metrics=metrics,
    )
