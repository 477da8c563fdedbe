"""Reads what a running job has written so far, as far as its pilot has put it beside its log."""

from pydantic import ValidationError

from sluice.contracts.logs import FollowedLog, LiveLog
from sluice.contracts.naming import live_name
from sluice.contracts.problems import NotAvailable, NotFound, Unprocessable
from sluice.contracts.states import JobState
from sluice.contracts.tasks import Job
from wfms.operator.usecases.context import OperatorContext

#: Bytes of a live log that are read: more than any has.
_MOST = 1 << 20

_IN_FLIGHT = frozenset({JobState.LEASED, JobState.RUNNING})


async def follow_log(context: OperatorContext, job_id: int) -> FollowedLog:
    """Precondition: none. Effect: none. Without streams where it does not run, has written nothing,
    or its pilot puts nothing there. Raises ``NotFound`` (the job), ``NotAvailable``."""
    job = await context.wms.job(job_id)
    if job.state not in _IN_FLIGHT:
        return FollowedLog(state=job.state, attempt=job.attempt)
    folder = await _log_folder(context, job)
    if folder is None:
        return FollowedLog(state=job.state, attempt=job.attempt)
    try:
        data, _ = await context.dms.log_part(
            f"{folder}/{live_name(job.seq, job.attempt)}", span=f"0-{_MOST - 1}"
        )
        live = LiveLog.model_validate_json(data)
    except (NotFound, NotAvailable, Unprocessable, ValidationError):
        # Not there, not now, or nothing that a pilot has written.
        return FollowedLog(state=job.state, attempt=job.attempt)
    return FollowedLog(state=job.state, attempt=job.attempt, streams=live.streams)


async def _log_folder(context: OperatorContext, job: Job) -> str | None:
    """Of the job's step: where its logs are written."""
    task = await context.chains.task(job.task_uid)
    chain = await context.chains.chain(task.chain_uid)
    logs = next(
        (
            dataset.uid
            for dataset in chain.datasets
            if dataset.step == task.step and dataset.port is None
        ),
        None,
    )
    return None if logs is None else (await context.dms.dataset(logs)).url
