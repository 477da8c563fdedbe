"""Explain why a job does not run, or how it ended."""

from dataclasses import replace
from uuid import UUID

from sluice.contracts.jobs.tasks import Explanation
from wms.db.tasks.explanations import ReadyJob, find_ready_job
from wms.db.tasks.status import get_job_with_attempts, get_task_status
from wms.domain import explanations
from wms.domain.scheduling.matching import Demand
from wms.usecases.context import WmsContext
from wms.usecases.leasing.explanation_facts import get_explanation_facts


async def explain_job(context: WmsContext, job_id: int) -> Explanation:
    """Return the explanation of a job.

    Raises:
        NotFound: There is no such job.
    """
    async with context.database.connection() as connection:
        job = await get_job_with_attempts(connection, job_id)
        status = await get_task_status(connection, job.task_uid)
        cached_task = (await context.tasks.get(connection, [job.task_uid]))[job.task_uid]
        ready = await find_ready_job(connection, job_id)
        facts = await get_explanation_facts(context, connection, job.task_uid)
    if ready is not None:
        demands = [_adapt_demand(demand, job.task_uid, ready) for demand in facts.demands]
        facts = replace(facts, demands=demands)
    pause = None if ready is None else ready.pause
    return Explanation(
        text=explanations.explain_job_state(
            job, status, retry=cached_task.task.retry, next_in=pause, facts=facts
        )
    )


def _adapt_demand(demand: Demand, uid: UUID, job: ReadyJob) -> Demand:
    """Return the task's demand for this job, which may need more memory than its task."""
    if demand.uid != uid:
        return demand
    return replace(demand, larger=job.ram, larger_gpu=job.gpu_memory)
