"""Tasks as the operator sees them: what the chain service knows of them, with the counts of the WMS."""

from collections.abc import Iterable
from uuid import UUID

import structlog

from sluice.clients.chains import ChainsClient
from sluice.clients.wms import WmsClient
from sluice.contracts.chains import ChainTask
from sluice.contracts.problems import NotFound, ServiceError
from sluice.contracts.tasks import TaskStatus

log = structlog.get_logger(__name__)

#: Ids in one query, so that the address stays short.
_AT_ONCE = 100


async def read_tasks(chains: ChainsClient, wms: WmsClient) -> list[ChainTask]:
    """Newest first. Effect: none. Where the WMS does not answer the counts are missing. Raises ``NotAvailable`` (chain service)."""
    rows = (await chains.tasks()).tasks
    statuses = await read_statuses(wms, (row.task_id for row in rows if row.jobs is None))
    return [row if row.jobs is not None else row.model_copy(update={"jobs": statuses.get(str(row.task_id))}) for row in rows]


async def read_task(chains: ChainsClient, wms: WmsClient, uid: UUID) -> ChainTask:
    """Raises ``NotFound``, ``NotAvailable``."""
    for row in await read_tasks(chains, wms):
        if row.task_id == uid:
            return row
    raise NotFound(f"there is no task {uid}", task=uid)


async def read_statuses(wms: WmsClient, uids: Iterable[UUID]) -> dict[str, TaskStatus]:
    """By uid as text, those that the WMS knows; none where it does not answer."""
    wanted = list(uids)
    found: dict[str, TaskStatus] = {}
    try:
        for first in range(0, len(wanted), _AT_ONCE):
            answer = await wms.tasks(wanted[first : first + _AT_ONCE])
            found |= {str(task.uid): task for task in answer.tasks}
    except ServiceError as error:
        log.warning("wms.no_counts", reason=error.detail)
    return found
