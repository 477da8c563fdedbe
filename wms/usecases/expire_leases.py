"""Gives jobs away whose leases have run out: their pilots are silent, and have stopped them by now
(invariant 6)."""

from datetime import timedelta

from sluice.contracts.states import AttemptOutcome, ErrorClass
from wms.db.jobs import SELECT_EXPIRED, STILL_EXPIRED, JobInFlight, jobs_in_flight
from wms.db.known_tasks import KnownTask
from wms.db.tasks import lock_tasks_of_jobs
from wms.usecases.settle_attempts import Ended, EndedAttempt, attempt_verdict, settle_attempts
from wms.usecases.workload import Workload

#: Leases handled in one transaction.
BATCH = 500


async def expire_leases(workload: Workload) -> bool:
    """Precondition: none.

    Effect: attempts whose lease ended more than ``grace`` ago, by the database's clock, are lost;
    this never counts against the task's ``retry``; their jobs are ready again at once, or held when
    it was the last of several losses in a row. Messages: those of ``settle_attempts``. Returns True
    when there may be more.
    """
    grace = timedelta(seconds=workload.terms.grace)
    async with workload.database.connection() as connection:
        ids = [row["id"] for row in await connection.fetch(SELECT_EXPIRED, grace, BATCH)]
    if not ids:
        return False
    async with workload.database.transaction() as tx:
        locked = await lock_tasks_of_jobs(tx.connection, ids)
        expired = [row["id"] for row in await tx.connection.fetch(STILL_EXPIRED, ids, grace)]
        flying = await jobs_in_flight(tx.connection, expired)
        known = await workload.tasks.get(tx.connection, locked)
        lost = [_lost(known[job.task_uid], job, workload) for job in flying.values()]
        settled = await settle_attempts(tx, locked, known=known, attempts=lost)
    settled.announce(workload)
    workload.metrics.expired.inc(len(lost))
    return len(ids) == BATCH


def _lost(known: KnownTask, job: JobInFlight, workload: Workload) -> EndedAttempt:
    error = ErrorClass.PILOT_LOST
    return EndedAttempt(
        job=job,
        outcome=AttemptOutcome.LOST,
        verdict=attempt_verdict(
            known, job, Ended(AttemptOutcome.LOST, error), losses=workload.terms.losses
        ),
        error=error,
        message=job.stopping
        or f"pilot {job.pilot} did not renew its lease of {workload.terms.lease:g} s",
    )
