"""Record which tasks wait for space on a storage and which no longer do, as reports say."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from uuid import UUID

from sluice.contracts.common.states import AttemptOutcome, ErrorClass
from sluice.contracts.jobs.tasks import Task
from sluice.contracts.pilots.reports import AttemptReport
from sluice.servicekit.database import Connection
from wms.db.jobs.attempts import EndedAttempt
from wms.db.limits.storage_waits import StorageFullReport, end_storage_waits, put_storage_waits
from wms.db.tasks.task_cache import CachedTask
from wms.usecases.context import WmsContext


def find_full_storage(task: Task, report: AttemptReport) -> str | None:
    """Return the URL of the task's storage that the attempt found full, or None."""
    if report.error_class is not ErrorClass.NO_SPACE or report.no_space is None:
        return None
    url = report.no_space.storage
    return next(
        (
            output.dat_stor_url
            for output in task.outputs
            if url == output.dat_stor_url or url.startswith(f"{output.dat_stor_url}/")
        ),
        None,
    )


async def record_storage_waits(
    context: WmsContext,
    connection: Connection,
    attempts: Iterable[EndedAttempt],
    reports: Mapping[tuple[int, int], AttemptReport],
    *,
    cached_tasks: Mapping[UUID, CachedTask],
) -> bool:
    """Let tasks wait whose attempts found a storage full; end the wait of those with outputs.

    Args:
        context: The context of the WMS.
        connection: A connection whose transaction has locked the tasks.
        attempts: Attempts that have ended.
        reports: Reports of pilots on them, by job and attempt.
        cached_tasks: The tasks.

    Returns:
        Whether a task no longer waits, so that its jobs may be leased.
    """
    stored: dict[UUID, datetime] = {}
    full_reports: dict[UUID, StorageFullReport] = {}
    for attempt in attempts:
        uid = attempt.job.task_uid
        report = reports[attempt.job.id, attempt.job.attempt]
        if attempt.outcome is AttemptOutcome.FINISHED:
            stored[uid] = max(attempt.job.leased_at, stored.get(uid, attempt.job.leased_at))
        elif (
            url := find_full_storage(cached_tasks[uid].task, report)
        ) and report.no_space is not None:
            full_report = StorageFullReport(
                url, report.no_space.needed, attempt.job.pilot, attempt.job.leased_at
            )
            full_reports[uid] = max(
                full_reports.get(uid, full_report), full_report, key=lambda space: space.needed
            )
    for uid in full_reports:
        stored.pop(uid, None)
    await put_storage_waits(connection, full_reports)
    context.waiting_for_space.update(full_reports)
    # Most reports come while no task waits.
    waited = context.waiting_for_space & stored.keys()
    ended = await end_storage_waits(connection, {uid: stored[uid] for uid in waited})
    context.waiting_for_space.difference_update(ended)
    return bool(ended)
