"""What runs, what ended last, who works, and what needs a person."""

import asyncio
from collections.abc import Awaitable, Iterable
from dataclasses import dataclass
from uuid import UUID

from sluice.clients.chains import ChainsClient
from sluice.clients.wms import WmsClient
from sluice.contracts.chains import Chain, ChainPage
from sluice.contracts.pilots import Pilot, PilotList
from sluice.contracts.problems import ServiceError
from sluice.contracts.states import ChainState
from sluice.servicekit.database import Database
from wfms.operator.domain.overview import Overview, overview_of
from wfms.operator.domain.progress import ChainProgress, chain_progress
from wfms.operator.usecases.read_tasks import read_statuses
from wfms.operator.usecases.read_template import list_templates


_RUNNING = [state for state in ChainState if not state.final]
_ENDED = [state for state in ChainState if state.final]
_MOST_RUNNING, _MOST_ENDED = 50, 10


@dataclass(frozen=True, slots=True)
class _Maybe:
    """What a service answered, or the sentence why it did not."""

    chains: ChainPage | None = None
    pilots: PilotList | None = None
    trouble: str = ""


async def read_overview(database: Database, chains: ChainsClient, wms: WmsClient) -> Overview:
    """Effect: none. What a service that does not answer would have said is missing, and the overview says so."""
    running, ended, pilots = await asyncio.gather(
        _chains(chains.chains(state=_RUNNING, limit=_MOST_RUNNING)),
        _chains(chains.chains(state=_ENDED, limit=_MOST_ENDED)),
        _pilots(wms.pilots()),
    )
    shown = [page.chains.chains if page.chains else [] for page in (running, ended)]
    statuses = await read_statuses(wms, _tasks(chain for page in shown for chain in page)) if not pilots.trouble else {}
    return overview_of(
        running=[chain_progress(chain, statuses) for chain in shown[0]],
        ended=[chain_progress(chain, statuses) for chain in shown[1]],
        more_running=running.chains is not None and running.chains.next is not None,
        pilots=_list(pilots.pilots),
        troubles=[trouble for trouble in (running.trouble, pilots.trouble) if trouble],
        templates=len(await list_templates(database)),
    )


async def read_progress(wms: WmsClient, chains: Iterable[Chain]) -> list[ChainProgress]:
    """The chains with the counts of their tasks."""
    found = list(chains)
    statuses = await read_statuses(wms, _tasks(found))
    return [chain_progress(chain, statuses) for chain in found]


def _tasks(chains: Iterable[Chain]) -> list[UUID]:
    return [step.task_uid for chain in chains for step in chain.steps if step.task_uid is not None and step.started_at is not None]


def _list(pilots: PilotList | None) -> list[Pilot] | None:
    return None if pilots is None else pilots.pilots


async def _chains(answer: Awaitable[ChainPage]) -> _Maybe:
    try:
        return _Maybe(chains=await answer)
    except ServiceError as error:
        return _Maybe(trouble=f"The chain service does not answer, so chains are missing here: {error.detail}")


async def _pilots(answer: Awaitable[PilotList]) -> _Maybe:
    try:
        return _Maybe(pilots=await answer)
    except ServiceError as error:
        return _Maybe(trouble=f"The WMS does not answer, so counts of jobs and pilots are missing here: {error.detail}")
