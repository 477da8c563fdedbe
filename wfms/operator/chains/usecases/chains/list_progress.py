"""List the progress of chains: the job counts of their tasks, from the WMS."""

import asyncio
from collections.abc import Iterable
from uuid import UUID

import structlog

from sluice.clients.wms import WmsClient
from sluice.contracts.chains.chains import Chain
from sluice.contracts.common.problems import ServiceError
from sluice.contracts.jobs.tasks import TaskStatus
from wfms.operator.chains.domain.progress import ChainProgress, chain_progress

log = structlog.get_logger(__name__)

#: Ids in one query, so that the URL stays short.
_AT_ONCE = 100


async def list_progress(wms: WmsClient, chains: Iterable[Chain]) -> list[ChainProgress]:
    """Return the chains with the job counts of their tasks, if the WMS answers."""
    chain_list = list(chains)
    tasks = [
        step.task_uid
        for chain in chain_list
        for step in chain.steps
        if step.task_uid is not None and step.started_at is not None
    ]
    statuses = await _list_statuses(wms, tasks)
    return [chain_progress(chain, statuses) for chain in chain_list]


async def _list_statuses(wms: WmsClient, uids: list[UUID]) -> dict[str, TaskStatus]:
    parts = [uids[first : first + _AT_ONCE] for first in range(0, len(uids), _AT_ONCE)]
    try:
        answers = await asyncio.gather(*(wms.list_tasks(uid=part) for part in parts))
    except ServiceError as error:
        log.warning("wms.no_counts", reason=error.detail)
        return {}
    return {str(task.uid): task for answer in answers for task in answer.tasks}
