"""Ask the WMS to cancel the running tasks of chains that are ending."""

import asyncio

import structlog

from sluice.clients.wms import WmsClient
from sluice.contracts.common.bounds import MAX_TEXT
from sluice.contracts.common.problems import Conflict, NotFound, ServiceError
from sluice.contracts.jobs.tasks import Cancel
from sluice.servicekit.running.logging import log_ids
from wfms.chains.db import steps
from wfms.chains.db.steps import CancelClaim
from wfms.chains.usecases.context import ChainsContext

log = structlog.get_logger(__name__)

BATCH = 50


async def stop_tasks(context: ChainsContext) -> bool:
    """Ask the WMS to cancel these tasks, and return whether there may be more.

    The request is repeated every ``cancel_again`` until the watcher reports the task's end. A task
    that the WMS does not know is still in its queue.
    """
    async with context.database.connection() as connection:
        running = await steps.claim_cancels(connection, again=context.cancel_again, limit=BATCH)
    await asyncio.gather(*(_cancel(context.wms, step) for step in running))
    return len(running) == BATCH


async def _cancel(wms: WmsClient, step: CancelClaim) -> None:
    with log_ids(chain=step.chain, task=step.task):
        try:
            await wms.cancel_task(step.task, Cancel(reason=step.reason[:MAX_TEXT]))
        except (NotFound, Conflict) as error:
            log.info("task.cancel_postponed", reason=error.detail)
        except ServiceError as error:
            log.warning("task.cancel_failed", reason=error.detail)
