"""The background loops of the DMS.

Each loop that works on files takes one data set, or some released files, at a time. Several loops
and several instances share the work.
"""

from functools import partial

from dms.settings import DmsSettings
from dms.usecases.context import DmsContext
from dms.usecases.datasets.close_complete_datasets import close_complete_datasets
from dms.usecases.removal.delete_next_dataset import delete_next_dataset
from dms.usecases.removal.remove_released import remove_released
from dms.usecases.removal.sweep_next_folder import sweep_next_folder
from dms.usecases.storages.fold_usage import fold_usage
from dms.usecases.storages.watch_watermarks import watch_watermarks
from dms.usecases.uploads.upload_next_dataset import upload_next_dataset
from sluice.servicekit.running.loop import LoopDeclaration

#: Seconds between checks of where the storages are.
CHECK_ALL_PERIOD = 30.0

#: Seconds between checks of the recorded changes of usage.
FOLD_USAGE_PERIOD = 10.0

#: Seconds between checks of the watermarks.
WATCH_WATERMARKS_PERIOD = 5.0

CLOSE, RELEASE = "dms.close_complete_datasets", "dms.remove_released"
DELETE, UPLOAD = "dms.delete_next_dataset", "dms.upload_next_dataset"
_SWEEP = "dms.sweep_next_folder"


def declare_loops(context: DmsContext, settings: DmsSettings) -> list[LoopDeclaration]:
    """Return the declarations of the loops."""
    database, period, count = context.database, settings.poll_period, settings.workers
    close, fold = partial(close_complete_datasets, database), partial(fold_usage, database)
    check_all = context.storage_monitor.check_all
    watch = partial(watch_watermarks, database, context.storage_monitor.free)
    return [
        LoopDeclaration(CLOSE, period, close, wakes=(UPLOAD, _SWEEP)),
        LoopDeclaration(RELEASE, period, partial(remove_released, context)),
        LoopDeclaration(DELETE, period, partial(delete_next_dataset, context), count=count),
        LoopDeclaration(UPLOAD, period, partial(upload_next_dataset, context), count=count),
        LoopDeclaration(_SWEEP, period, partial(sweep_next_folder, context)),
        LoopDeclaration("dms.fold_usage", FOLD_USAGE_PERIOD, fold),
        LoopDeclaration("dms.check_all", CHECK_ALL_PERIOD, check_all),
        LoopDeclaration("dms.watch_watermarks", WATCH_WATERMARKS_PERIOD, watch),
    ]
