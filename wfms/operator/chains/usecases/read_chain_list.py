"""Chains from the chain service with the job counts of their tasks from the WMS."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

import structlog

from sluice.clients.chains import ChainsClient
from sluice.clients.wms import WmsClient
from sluice.contracts.chains.chains import Chain, ChainListState
from sluice.contracts.common.problems import ServiceError
from sluice.contracts.common.states import ChainState
from sluice.contracts.jobs.tasks import TaskStatus
from wfms.operator.chains.domain.progress import ChainProgress, chain_progress
from wfms.operator.context import OperatorContext

log = structlog.get_logger(__name__)

#: Chains on one page of the list.
PAGE = 30

_RUNNING = [state for state in ChainState if not state.final]

#: Ids in one query, so that the URL stays short.
_AT_ONCE = 100


async def list_newest_running(chains: ChainsClient, *, limit: int) -> list[Chain]:
    """Return the newest chains that have not ended.

    Raises:
        NotAvailable: The chain service does not answer.
    """
    pages = await asyncio.gather(
        *(chains.list_chains(state=ChainListState(state), limit=limit) for state in _RUNNING)
    )
    running_chains = [chain for page in pages for chain in page.chains]
    return sorted(running_chains, key=lambda chain: chain.created_at, reverse=True)[:limit]


@dataclass(frozen=True, slots=True)
class ChainList:
    """A page of chains; ``after`` is the start of the next page, or None on the last page."""

    chains: list[ChainProgress]
    after: str | None


async def read_chain_list(
    context: OperatorContext,
    *,
    state: ChainListState | None,
    template: str | None,
    after: str | None,
) -> ChainList:
    """Return one page of chains, newest first.

    Args:
        context: The context of the operator service.
        state: Only chains in this state.
        template: Only chains of any version of this template.
        after: The ``after`` of the previous page.

    Raises:
        NotAvailable: The chain service does not answer.
    """
    page = await context.chains.list_chains(state=state, template=template, after=after, limit=PAGE)
    return ChainList(await read_progress(context.wms, page.chains), page.after)


async def read_progress(wms: WmsClient, chains: Iterable[Chain]) -> list[ChainProgress]:
    """Return the chains with the job counts of their tasks, if the WMS answers."""
    chain_list = list(chains)
    tasks = [
        step.task_uid
        for chain in chain_list
        for step in chain.steps
        if step.task_uid is not None and step.started_at is not None
    ]
    statuses = await _read_statuses(wms, tasks)
    return [chain_progress(chain, statuses) for chain in chain_list]


async def _read_statuses(wms: WmsClient, uids: list[UUID]) -> dict[str, TaskStatus]:
    parts = [uids[first : first + _AT_ONCE] for first in range(0, len(uids), _AT_ONCE)]
    try:
        answers = await asyncio.gather(*(wms.list_tasks(uid=part) for part in parts))
    except ServiceError as error:
        log.warning("wms.no_counts", reason=error.detail)
        return {}
    return {str(task.uid): task for answer in answers for task in answer.tasks}
