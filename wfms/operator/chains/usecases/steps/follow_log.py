"""The live output of a running job, which its pilot writes beside the log."""

from pydantic import ValidationError

from sluice.contracts.common.naming import live_name
from sluice.contracts.common.problems import NotAvailable, NotFound, Unprocessable
from sluice.contracts.common.states import JobState
from sluice.contracts.jobs.logs import FollowedLog, LiveLog
from sluice.contracts.jobs.tasks import Job
from wfms.operator.context import OperatorContext

#: Bytes of a live log that are read. No live log is larger.
_MAX_LOG_BYTES = 1 << 20

_IN_FLIGHT = frozenset({JobState.LEASED, JobState.RUNNING})


async def follow_log(context: OperatorContext, job_id: int) -> FollowedLog:
    """Return what a running job has written so far.

    The answer has no streams if the job does not run, or if there is no readable live log.

    Raises:
        NotFound: There is no such job.
        NotAvailable: Another service does not answer.
    """
    job = await context.wms.get_job(job_id)
    if job.state not in _IN_FLIGHT:
        return FollowedLog(state=job.state, attempt=job.attempt)
    folder = await _log_folder(context, job)
    if folder is None:
        return FollowedLog(state=job.state, attempt=job.attempt)
    try:
        data, _ = await context.dms.read_log_part(
            f"{folder}/{live_name(job.seq, job.attempt)}", span=f"0-{_MAX_LOG_BYTES - 1}"
        )
        live = LiveLog.model_validate_json(data)
    except (NotFound, NotAvailable, Unprocessable, ValidationError):
        # There is no live log, it cannot be read now, or no pilot wrote it.
        return FollowedLog(state=job.state, attempt=job.attempt)
    return FollowedLog(state=job.state, attempt=job.attempt, streams=live.streams)


async def _log_folder(context: OperatorContext, job: Job) -> str | None:
    """Return the URL of the folder for the logs of the step, if it has one."""
    task = await context.chains.get_task(job.task_uid)
    chain = await context.chains.get_chain(task.chain_uid)
    logs = next(
        (
            dataset.uid
            for dataset in chain.datasets
            if dataset.step == task.step and dataset.port is None
        ),
        None,
    )
    return None if logs is None else (await context.dms.get_dataset(logs)).url
