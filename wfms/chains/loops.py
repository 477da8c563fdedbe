"""The background loops of the chain service."""

from functools import partial

from sluice.servicekit.running.loop import LoopDeclaration
from wfms.chains.settings import ChainsSettings
from wfms.chains.usecases.chains.raise_ranks_for_filling_storages import (
    raise_ranks_for_filling_storages,
)
from wfms.chains.usecases.context import ChainsContext
from wfms.chains.usecases.data.collect_outputs import collect_outputs
from wfms.chains.usecases.data.delete_outputs import delete_outputs
from wfms.chains.usecases.data.delete_requested_datasets import delete_requested_datasets
from wfms.chains.usecases.data.hand_over_releases import hand_over_releases
from wfms.chains.usecases.data.watch_uploads import watch_uploads
from wfms.chains.usecases.reruns.expire_rerun_data import expire_rerun_data
from wfms.chains.usecases.steps.start_steps import start_steps
from wfms.chains.usecases.steps.stop_tasks import stop_tasks

START_STEPS = "chains.start_steps"
#: The loops whose work results from changes of chains.
WORK_OF_CHANGES = {
    START_STEPS: start_steps,
    "chains.stop_tasks": stop_tasks,
    "chains.watch_uploads": watch_uploads,
    "chains.hand_over_releases": hand_over_releases,
    "chains.delete_outputs": delete_outputs,
    "chains.collect_outputs": collect_outputs,
    "chains.delete_requested_datasets": delete_requested_datasets,
}


def declare_loops(context: ChainsContext, settings: ChainsSettings) -> list[LoopDeclaration]:
    """Return the declarations of the loops."""
    period, watermark_period = settings.period, settings.raise_ranks_for_filling_storages_period
    expire = partial(expire_rerun_data, context.database)
    return [
        *(
            LoopDeclaration(name, period, partial(function, context))
            for name, function in WORK_OF_CHANGES.items()
        ),
        LoopDeclaration("chains.expire_rerun_data", period, expire),
        LoopDeclaration(
            "chains.raise_ranks_for_filling_storages",
            watermark_period,
            partial(raise_ranks_for_filling_storages, context),
        ),
    ]
