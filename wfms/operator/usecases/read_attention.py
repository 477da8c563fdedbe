"""What needs a person, gathered from the services; and saying that one has seen it."""

import asyncio
import contextlib
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from sluice.clients.chains import ChainsClient
from sluice.clients.intake import IntakeClient
from sluice.clients.wms import WmsClient
from sluice.contracts.attention import Acknowledge, ChainCounts, Notice, NoticeList, Subject, WorkCounts
from sluice.contracts.chains import Chain
from sluice.contracts.pilots import Pilot
from sluice.contracts.problems import Conflict, NotFound, ServiceError
from sluice.contracts.tasks import TaskStatus
from sluice.servicekit.database import Database
from wfms.operator.domain import notices
from wfms.operator.usecases.read_unmatched import read_ties

AnswerT = TypeVar("AnswerT")

#: Chains looked up at once, for the names of their data sets.
_LOOKED_UP = 20
#: Tasks with trouble that are looked at.
_MOST_TASKS = 1000


@dataclass(frozen=True, slots=True)
class Attention:
    """``chains``, ``work``, ``pilots``: as far as the services tell."""

    notices: NoticeList
    chains: ChainCounts | None
    work: WorkCounts | None
    pilots: list[Pilot] | None


@dataclass(frozen=True, slots=True)
class _Part:
    notices: list[Notice]
    more: int = 0


async def read_attention(
    database: Database, *, chains: ChainsClient, wms: WmsClient, intake: IntakeClient, limit: int
) -> Attention:
    """At most ``limit`` notices, errors first, of each kind the newest. Effect: none. What a service that does not answer would
    have said is missing, and a notice says so."""
    (of_chains, counted), (of_wms, work, pilots), of_intake = await asyncio.gather(
        _chains(chains, limit), _wms(wms, chains), _intake(database, intake)
    )
    found = notices.in_order([*of_wms, *of_intake, *of_chains.notices])
    left_out = max(0, len(found) - limit)
    return Attention(NoticeList(notices=found[:limit], more=of_chains.more + left_out), counted, work, pilots)


async def acknowledge(chains: ChainsClient, wms: WmsClient, ids: Sequence[str], asked: Acknowledge) -> int:
    """Precondition: ``ids`` are those of notices. Effect: their subjects say who has seen them; one that needs nobody any more is
    passed over. Messages: none. Gives how many there were. Raises ``NoSuchNotice`` before anything, ``NotAvailable``."""
    subjects = [_subject(one) for one in ids]
    done = 0
    for kind, uid in subjects:
        with contextlib.suppress(NotFound, Conflict):
            match kind:
                case Subject.CHAIN:
                    await chains.acknowledge_chain(uid, asked)
                case Subject.PILOT:
                    await wms.acknowledge_pilot(uid, asked)
            done += 1
    return done


def _subject(notice: str) -> tuple[Subject, UUID]:
    found = Notice.subject_of(notice)
    if found is None:
        raise notices.NoSuchNotice(notice)
    return found


async def _chains(chains: ChainsClient, limit: int) -> tuple[_Part, ChainCounts | None]:
    try:
        page, counted = await asyncio.gather(chains.chains(attention=True, limit=limit), _known(chains.counts()))
    except ServiceError as error:
        text = f"The chain service does not answer, so chains are missing here: {error.detail}"
        return _Part([notices.of_trouble(text)]), None
    more = 0 if counted is None else max(0, counted.attention - len(page.chains))
    return _Part([notice for chain in page.chains for notice in notices.of_chain(chain)], more), counted


async def _wms(wms: WmsClient, chains: ChainsClient) -> tuple[list[Notice], WorkCounts | None, list[Pilot] | None]:
    try:
        listed, troubled, work = await asyncio.gather(
            wms.pilots(), wms.tasks(troubled=True, limit=_MOST_TASKS), _known(wms.counts())
        )
    except ServiceError as error:
        text = f"The WMS does not answer, so pilots and counts of jobs are missing here: {error.detail}"
        return [notices.of_trouble(text)], None, None
    datasets = await _datasets(chains, troubled.tasks)
    found = notices.of_pilots(listed.pilots, waiting=None if work is None else work.waiting)
    return [*found, *(notice for task in troubled.tasks for notice in notices.of_task(task, datasets))], work, listed.pilots


async def _datasets(chains: ChainsClient, tasks: Sequence[TaskStatus]) -> dict[UUID, str]:
    """Names of the inputs of the tasks' chains, as far as they can be had."""
    uids = list(dict.fromkeys(task.chain_uid for task in tasks))[:_LOOKED_UP]
    found = await asyncio.gather(*(chains.chain(uid) for uid in uids), return_exceptions=True)
    return {one.uid: one.dataset_name for one in found if isinstance(one, Chain)}


async def _known(answer: Awaitable[AnswerT]) -> AnswerT | None:
    """None where a release before this one answers."""
    try:
        return await answer
    except NotFound:
        return None


async def _intake(database: Database, intake: IntakeClient) -> list[Notice]:
    try:
        unmatched, ties = await asyncio.gather(intake.unmatched(limit=1), read_ties(database, intake))
    except ServiceError as error:
        return [notices.of_trouble(f"The intake does not answer: new data sets get no chain now ({error.detail})")]
    return notices.of_intake(unmatched.total or len(unmatched.datasets), ties)
