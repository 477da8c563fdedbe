"""Handle a pilot's heartbeat: renew its leases, and tell it which jobs it has no longer."""

from collections.abc import Mapping, Sequence
from uuid import UUID

import structlog

from sluice.contracts.common.states import JobState, PilotState
from sluice.contracts.pilots.heartbeats import Command, Heartbeat, HeartbeatAnswer
from sluice.contracts.pilots.leases import JobToken
from sluice.servicekit.database import Connection
from wms.db.jobs.duplicate_attempts import extend_duplicates
from wms.db.jobs.leases import (
    ExtendedLease,
    count_input_bytes,
    extend_leases,
    list_job_holders,
    stop_renewing,
)
from wms.db.pilots.pilots import set_reported_state, touch_pilot
from wms.db.tasks.tasks import lock_tasks_of_jobs
from wms.domain.deadlines import Allowance, AttemptDuration, describe_overrun
from wms.domain.tokens import filter_valid_tokens
from wms.usecases.context import WmsContext

log = structlog.get_logger(__name__)

#: States of a job that the pilot still has and must stop.
_IN_FLIGHT = frozenset({JobState.LEASED, JobState.RUNNING})
#: States of a job that the pilot has reported, so that it needs no command.
_REPORTED = frozenset({JobState.FINISHED, JobState.FAILED})


async def renew_leases(context: WmsContext, pilot: UUID, heartbeat: Heartbeat) -> HeartbeatAnswer:
    """Renew the leases of those of the given jobs that are still this pilot's.

    The leases last until now + ``lease`` by the database's clock, and started jobs become running.
    Jobs beyond their deadline (``wms.domain.deadlines``) are not renewed, nor are any jobs of a
    pilot that was told to stop. The answer has the command ``cancel`` for these and for attempts
    canceled meanwhile, and ``abandon`` for jobs that another pilot has.

    Raises:
        NotFound: The pilot has not registered.
    """
    running = filter_valid_tokens(heartbeat.running)
    waiting = filter_valid_tokens(heartbeat.waiting)
    tokens: list[JobToken] = [*running, *waiting]
    async with context.database.connection() as connection:
        pilot_row = await touch_pilot(connection, pilot)
        if heartbeat.loaded or heartbeat.trouble or pilot_row.has_reported_state:
            await set_reported_state(
                connection, pilot, loaded_workers=heartbeat.loaded, trouble=heartbeat.trouble
            )
    commands: list[Command] = []
    if tokens:
        async with context.database.transaction() as transaction:
            connection = transaction.connection
            await lock_tasks_of_jobs(connection, [job.id for job in tokens])
            leases = await extend_leases(
                connection,
                pilot=pilot,
                running_jobs=running,
                waiting_jobs=waiting,
                lease=context.rules.lease_duration,
            )
            renewed = {(lease.id, lease.attempt) for lease in leases}
            others = [
                (job, job in running) for job in tokens if (job.id, job.attempt) not in renewed
            ]
            leases += await extend_duplicates(
                connection, pilot=pilot, tokens=others, lease=context.rules.lease_duration
            )
            renewed = {(lease.id, lease.attempt) for lease in leases}
            if pilot_row.stopping:
                renewed -= await _stop_all(connection, leases, name=pilot_row.identity.name)
            else:
                renewed -= await _stop_overdue(
                    connection, context, leases, heartbeat=heartbeat, pilot=pilot
                )
            lost = [job for job in tokens if (job.id, job.attempt) not in renewed]
            commands = await _list_commands(connection, pilot, lost)
    return HeartbeatAnswer(
        lease=context.rules.lease, commands=commands, drain=pilot_row.state is not PilotState.ACTIVE
    )


async def _stop_all(
    connection: Connection, leases: Sequence[ExtendedLease], *, name: str
) -> set[tuple[int, int]]:
    """Mark all jobs to be stopped, because the pilot was told to stop; return them.

    They are ready again when the pilot reports that it has stopped them.
    """
    reason = f"pilot {name} was told to stop"
    reasons = {(lease.id, lease.attempt): reason for lease in leases}
    await stop_renewing(connection, reasons)
    return set(reasons)


async def _stop_overdue(
    connection: Connection,
    context: WmsContext,
    leases: Sequence[ExtendedLease],
    *,
    heartbeat: Heartbeat,
    pilot: UUID,
) -> set[tuple[int, int]]:
    """Mark the jobs beyond their deadline to be stopped; return them by job and attempt.

    Sizes of files are read only for jobs that would be overdue without them.
    """
    grace = context.rules.deadline_grace
    old = [lease for lease in leases if lease.seconds > grace]
    if not old:
        return set()
    cached_tasks = await context.tasks.get(connection, {lease.task_uid for lease in old})
    running = {(job.id, job.attempt): job for job in heartbeat.running}

    def find_overdue(
        leases: Sequence[ExtendedLease], sizes: Mapping[int, int]
    ) -> dict[tuple[int, int], str]:
        reasons: dict[tuple[int, int], str] = {}
        for lease in leases:
            key, task = (lease.id, lease.attempt), cached_tasks[lease.task_uid].task
            needs, job = task.needs, running.get(key)
            size = sizes.get(lease.id, 0) + ((job.bytes or 0) if job else 0)
            duration = AttemptDuration(
                lease.started, lease.seconds, size, job.phase if job else None
            )
            allowance = Allowance(
                needs.resources.time_limit, task.batch, needs.container is not None, grace
            )
            if (reason := describe_overrun(duration, allowance)) is not None:
                reasons[key] = f"pilot {pilot} {reason}"
        return reasons

    if suspects := find_overdue(old, {}):
        sizes = await count_input_bytes(connection, [job for job, _ in suspects])
        suspects = find_overdue(
            [lease for lease in old if (lease.id, lease.attempt) in suspects], sizes
        )
    if suspects:
        log.warning(
            "lease.not_renewed",
            pilot=str(pilot),
            jobs={job: reason for (job, _), reason in suspects.items()},
        )
        await stop_renewing(connection, suspects)
    return set(suspects)


async def _list_commands(
    connection: Connection, pilot: UUID, lost_jobs: list[JobToken]
) -> list[Command]:
    if not lost_jobs:
        return []
    holders = await list_job_holders(connection, [job.id for job in lost_jobs])
    commands: list[Command] = []
    for job in lost_jobs:
        holder = holders.get((job.id, job.attempt))
        token = JobToken(id=job.id, attempt=job.attempt)
        if holder is not None and holder.pilot == pilot:
            if holder.state in _REPORTED:
                continue
            if holder.state is JobState.CANCELED or holder.state in _IN_FLIGHT:
                commands.append(Command(kind="cancel", job=token))
                continue
        commands.append(Command(kind="abandon", job=token))
    return commands
