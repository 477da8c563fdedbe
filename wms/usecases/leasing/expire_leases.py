"""Take jobs from silent pilots whose leases have expired; they have stopped them (invariant 6)."""

from datetime import timedelta

from sluice.contracts.common.states import AttemptOutcome, ErrorClass
from wms.db.jobs.attempts import EndedAttempt, JobInFlight, list_jobs_in_flight
from wms.db.jobs.leases import list_expired_leases, list_still_expired
from wms.db.tasks.task_cache import CachedTask
from wms.db.tasks.tasks import lock_tasks_of_jobs
from wms.usecases.context import WmsContext
from wms.usecases.reports.decide_verdict import AttemptFacts, decide_verdict
from wms.usecases.reports.settle_attempts import settle_attempts

#: Leases handled in one transaction.
BATCH = 500


async def expire_leases(context: WmsContext) -> bool:
    """Mark attempts as lost whose leases ended more than ``grace`` ago; return if more may exist.

    Times are the database's. A loss does not count against the task's ``retry``. The jobs are ready
    again at once, or quarantined after several losses in a row. It sends the messages of
    ``settle_attempts``.
    """
    grace = timedelta(seconds=context.rules.grace)
    async with context.database.connection() as connection:
        ids = await list_expired_leases(connection, grace=grace, limit=BATCH)
    if not ids:
        return False
    async with context.database.transaction() as transaction:
        locked = await lock_tasks_of_jobs(transaction.connection, ids)
        expired = await list_still_expired(transaction.connection, ids, grace=grace)
        in_flight = await list_jobs_in_flight(transaction.connection, ids)
        cached_tasks = await context.tasks.get(transaction.connection, locked)
        # Each call handles only one of two attempts at a job, because the first end decides what
        # the second one means.
        silent = {attempt.id: attempt for attempt in expired}.values()
        lost = [
            _build_lost_attempt(cached_tasks[job.task_uid], job, context)
            for attempt in silent
            if (flight := in_flight.get(attempt.id))
            and (job := flight.at(attempt.attempt, attempt.pilot))
        ]
        effects = await settle_attempts(
            transaction, locked, cached_tasks=cached_tasks, attempts=lost
        )
    effects.announce(context)
    context.metrics.expired.inc(len(lost))
    return len(ids) >= BATCH or 0 < len(lost) < len(expired)


def _build_lost_attempt(
    cached_task: CachedTask, job: JobInFlight, context: WmsContext
) -> EndedAttempt:
    error = ErrorClass.PILOT_LOST
    return EndedAttempt(
        job=job,
        outcome=AttemptOutcome.LOST,
        verdict=decide_verdict(
            cached_task,
            job,
            AttemptFacts(AttemptOutcome.LOST, error),
            max_node_losses=context.rules.max_node_losses,
        ),
        error=error,
        message=job.stopping
        or f"pilot {job.pilot} did not renew its lease of {context.rules.lease:g} s",
    )
