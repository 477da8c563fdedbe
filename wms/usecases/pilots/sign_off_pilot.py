"""Sign off a pilot that ends and returns the jobs that it has not started."""

from collections.abc import Sequence
from uuid import UUID

from sluice.contracts.common.states import AttemptOutcome
from sluice.contracts.pilots.leases import JobToken
from wms.db.jobs.attempts import EndedAttempt, list_jobs_in_flight
from wms.db.pilots.pilots import set_gone
from wms.db.tasks.tasks import lock_tasks_of_jobs
from wms.domain.tokens import filter_valid_tokens
from wms.usecases.context import WmsContext
from wms.usecases.limits.release_quota import release_quota
from wms.usecases.reports.decide_verdict import AttemptFacts, decide_verdict
from wms.usecases.reports.settle_attempts import settle_attempts


async def sign_off_pilot(
    context: WmsContext, pilot: UUID, returned_jobs: Sequence[JobToken]
) -> None:
    """Record that the pilot is gone, and make the jobs that it returns ready at once.

    The return does not count against the jobs. Its other jobs wait until their leases expire,
    because it may still run them. A repetition changes nothing. It sends the messages of
    ``settle_attempts``.

    Raises:
        NotFound: The pilot has not registered.
    """
    tokens = {(job.id, job.attempt) for job in filter_valid_tokens(returned_jobs)}
    ids = [job_id for job_id, _ in tokens]
    outcome = AttemptOutcome.RETURNED
    async with context.database.transaction() as transaction:
        locked = await lock_tasks_of_jobs(transaction.connection, ids)
        in_flight = await list_jobs_in_flight(transaction.connection, ids)
        cached_tasks = await context.tasks.get(transaction.connection, locked)
        ended = [
            EndedAttempt(
                job=job,
                outcome=outcome,
                verdict=decide_verdict(
                    cached_tasks[job.task_uid],
                    job,
                    AttemptFacts(outcome),
                    max_node_losses=context.rules.max_node_losses,
                ),
                reported=outcome,
                message="handed back by its pilot",
                spent_amounts=dict.fromkeys(cached_tasks[job.task_uid].task.needs.named, 0.0),
            )
            for job_id, attempt in tokens
            if (flight := in_flight.get(job_id)) and (job := flight.at(attempt, pilot))
        ]
        effects = await settle_attempts(
            transaction, locked, cached_tasks=cached_tasks, attempts=ended
        )
        await set_gone(transaction.connection, pilot)
        await release_quota(transaction.connection, ended, cached_tasks)
    effects.announce(context)
    context.signal.ready()  # ends a request for jobs that the pilot left open
