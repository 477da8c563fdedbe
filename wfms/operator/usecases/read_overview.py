"""What runs, what ended last, who works, and what needs a person."""

import asyncio

from sluice.clients.chains import ChainsClient
from sluice.clients.intake import IntakeClient
from sluice.clients.wms import WmsClient
from sluice.contracts.chains import Chain
from sluice.contracts.pilots import Pilot
from sluice.contracts.problems import ServiceError
from sluice.servicekit.database import Database
from wfms.operator.domain.overview import Notice, Overview, Weight, notices_of_intake, overview_of
from wfms.operator.usecases.read_chains import ENDED, RUNNING, read_chains, read_progress
from wfms.operator.usecases.read_template import list_templates
from wfms.operator.usecases.read_unmatched import read_ties

_MOST_RUNNING, _MOST_ENDED = 50, 10


async def read_overview(database: Database, *, chains: ChainsClient, wms: WmsClient, intake: IntakeClient) -> Overview:
    """Effect: none. What a service that does not answer would have said is missing, and the overview says so."""
    (running, ended, no_chains), (pilots, no_pilots), templates, of_intake = await asyncio.gather(
        _chains(chains), _pilots(wms), list_templates(database, disabled=True), _intake(database, intake)
    )
    progress = await read_progress(wms, [*running, *ended])
    return overview_of(
        running=progress[: len(running)],
        ended=progress[len(running) :],
        pilots=pilots,
        troubles=[trouble for trouble in (no_chains, no_pilots) if trouble],
        templates=len(templates),
        intake=of_intake,
    )


async def _chains(chains: ChainsClient) -> tuple[list[Chain], list[Chain], str]:
    try:
        running = await read_chains(chains, RUNNING, limit=_MOST_RUNNING)
        return running, await read_chains(chains, ENDED, limit=_MOST_ENDED), ""
    except ServiceError as error:
        return [], [], f"The chain service does not answer, so chains are missing here: {error.detail}"


async def _pilots(wms: WmsClient) -> tuple[list[Pilot] | None, str]:
    try:
        return (await wms.pilots()).pilots, ""
    except ServiceError as error:
        return None, f"The WMS does not answer, so pilots and counts of jobs are missing here: {error.detail}"


async def _intake(database: Database, intake: IntakeClient) -> list[Notice]:
    try:
        unmatched, ties = await asyncio.gather(intake.unmatched(limit=1), read_ties(database, intake))
    except ServiceError as error:
        return [Notice(Weight.ERROR, f"The intake does not answer: new data sets get no chain now ({error.detail})")]
    return notices_of_intake(unmatched.total or len(unmatched.datasets), ties)
