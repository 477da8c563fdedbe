"""The background loops of the intake."""

from collections.abc import Callable
from functools import partial

from sluice.servicekit.running.loop import LoopDeclaration
from wfms.intake.settings import IntakeSettings
from wfms.intake.usecases.context import IntakeContext
from wfms.intake.usecases.match_datasets import match_datasets
from wfms.intake.usecases.start_chains import start_chains
from wfms.intake.usecases.start_triggered_chains import start_triggered_chains

MATCH_DATASETS, START_CHAINS = "intake.match_datasets", "intake.start_chains"
#: Interval in seconds at which decisions that wait for the chain service are looked for.
START_CHAINS_PERIOD = 1.0


def declare_loops(context: IntakeContext, settings: IntakeSettings) -> list[LoopDeclaration]:
    """Return the declarations of the loops."""
    match, period = partial(_match_datasets, context), settings.period
    return [
        LoopDeclaration(START_CHAINS, START_CHAINS_PERIOD, partial(start_chains, context)),
        LoopDeclaration(MATCH_DATASETS, period, match, wakes=(START_CHAINS,)),
        LoopDeclaration(
            "intake.start_triggered_chains", period, partial(start_triggered_chains, context)
        ),
    ]


async def _match_datasets(context: IntakeContext, *, on_found: Callable[[], None]) -> bool:
    is_page_full = await match_datasets(context)
    on_found()
    return is_page_full
