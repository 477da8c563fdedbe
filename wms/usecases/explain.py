"""Says why a task or a job does not run, or why it ended as it did."""

from dataclasses import replace
from uuid import UUID

from sluice.contracts.tasks import Explanation
from wms.db.explanations import ReadyJob, ready_job, waiting_facts
from wms.db.ranking import boost_of
from wms.db.status import job_with_attempts, task_status
from wms.domain import explanations
from wms.domain.matching import Demand
from wms.usecases.context import WmsContext


async def explain_task(context: WmsContext, uid: UUID) -> Explanation:
    """Precondition: the task exists. Effect: none. Messages: none. Raises ``NotFound``."""
    async with context.database.connection() as connection:
        status = await task_status(connection, uid)
        text = explanations.task_explanation(status, await waiting_facts(connection, uid))
        boost = await boost_of(connection, uid)
    return Explanation(
        text=text
        if boost is None
        else explanations.with_boost(text, by=boost.by, reason=boost.reason)
    )


async def explain_job(context: WmsContext, job_id: int) -> Explanation:
    """Precondition: the job exists. Effect: none. Messages: none. Raises ``NotFound``."""
    async with context.database.connection() as connection:
        job = await job_with_attempts(connection, job_id)
        status = await task_status(connection, job.task_uid)
        known = (await context.tasks.get(connection, [job.task_uid]))[job.task_uid]
        ready = await ready_job(connection, job_id)
        facts = await waiting_facts(connection, job.task_uid)
    if ready is not None:
        demands = [_own(demand, job.task_uid, ready) for demand in facts.demands]
        facts = replace(facts, demands=demands)
    pause = None if ready is None else ready.pause
    return Explanation(
        text=explanations.job_explanation(
            job, status, retry=known.task.retry, next_in=pause, facts=facts
        )
    )


def _own(demand: Demand, uid: UUID, job: ReadyJob) -> Demand:
    """The task's demand as this job has it, which may ask for more memory than its task."""
    if demand.uid != uid:
        return demand
    return replace(demand, larger=job.ram, larger_gpu=job.gpu_memory)
