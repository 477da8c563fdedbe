"""Retry a failed or quarantined job on request."""

from sluice.contracts.common.problems import Conflict
from sluice.contracts.common.states import JobState
from sluice.contracts.jobs.tasks import Job
from wms.db.jobs.retries import get_task_uid
from wms.db.tasks.status import get_job_with_attempts
from wms.usecases.context import WmsContext
from wms.usecases.reports.job_retries import lock_task_to_retry, reset_failed_jobs


async def retry_job(context: WmsContext, job_id: int) -> Job:
    """Retry one job as ``retry_task`` does.

    Raises:
        NotFound: There is no such job.
        Conflict: The job is neither failed nor quarantined, or its task has ended. Or people cannot
            be asked about its file, or a later step has gone on without it.
    """
    async with context.database.transaction() as transaction:
        uid = await get_task_uid(transaction.connection, job_id)
        locked = await lock_task_to_retry(transaction, uid)
        moved = await reset_failed_jobs(transaction, locked, job_id)
        job = await get_job_with_attempts(transaction.connection, job_id)
        retryable_states = JobState.FAILED, JobState.QUARANTINED
        if (
            not moved
            and job.state in retryable_states
            and any(attempt.by_people for attempt in job.attempts)
        ):
            raise Conflict(
                f"job {job_id} cannot be retried: its file cannot be shown to annotators:"
                f" {job.message}",
                job=job_id,
                state=job.state,
            )
        if not moved and job.state in retryable_states:
            raise Conflict(
                f"job {job_id} cannot be retried: a later step has already grouped the files around"
                " it; rerun the chain instead",
                job=job_id,
                state=job.state,
            )
        if not moved:
            raise Conflict(
                f"job {job_id} is {job.state}: only failed and quarantined jobs can be retried",
                job=job_id,
                state=job.state,
            )
    context.signal.ready()
    return job
