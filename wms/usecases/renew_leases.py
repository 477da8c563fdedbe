"""A pilot's heartbeat: renews what it has, tells it what it no longer has."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import structlog

from sluice.contracts.pilots import Command, Heartbeat, HeartbeatAnswer, JobToken
from sluice.contracts.states import JobState, PilotState
from sluice.servicekit.database import Connection
from wms.db.jobs import RENEW_LEASES, SELECT_BYTES, SELECT_OWNERS, STOP_RENEWING
from wms.db.pilots import touch_pilot
from wms.db.tasks import lock_tasks_of_jobs
from wms.domain.deadlines import Allowance, Kept, too_long
from wms.domain.tokens import possible
from wms.usecases.context import WmsContext

log = structlog.get_logger(__name__)

#: It has such a job still, and is to stop it.
_IN_FLIGHT = frozenset({JobState.LEASED, JobState.RUNNING})
#: The pilot has reported such a job: it needs to be told nothing.
_REPORTED = frozenset({JobState.FINISHED, JobState.FAILED})


async def renew_leases(context: WmsContext, pilot: UUID, heartbeat: Heartbeat) -> HeartbeatAnswer:
    """Precondition: the pilot has registered.

    Effect: the leases on the jobs named, as far as they are still this pilot's, last until now +
    ``lease`` by the database's clock; started ones are running. Those that it has for too long
    (``wms.domain.deadlines``) are renewed no more. The answer commands ``cancel`` for these and for
    attempts canceled meanwhile, ``abandon`` for those that are somebody else's. Messages: none.
    Raises ``NotFound`` for an unknown pilot.
    """
    named: list[tuple[JobToken, bool]] = [(job, True) for job in possible(heartbeat.running)]
    named += [(job, False) for job in possible(heartbeat.waiting)]
    async with context.database.connection() as connection:
        seen = await touch_pilot(connection, pilot)
    commands: list[Command] = []
    if named:
        ids = [job.id for job, _ in named]
        async with context.database.transaction() as transaction:
            await lock_tasks_of_jobs(transaction.connection, ids)
            attempts, started = [job.attempt for job, _ in named], [runs for _, runs in named]
            rows = await transaction.connection.fetch(
                RENEW_LEASES, ids, attempts, started, pilot, context.terms.span
            )
            renewed = {(row["id"], row["attempt"]) for row in rows}
            renewed -= await _stop_overdue(
                transaction.connection, context, rows, said=heartbeat, pilot=pilot
            )
            lost = [job for job, _ in named if (job.id, job.attempt) not in renewed]
            commands = await _commands(transaction.connection, pilot, lost)
    return HeartbeatAnswer(
        lease=context.terms.lease, commands=commands, drain=seen.state is not PilotState.ACTIVE
    )


async def _stop_overdue(
    connection: Connection,
    context: WmsContext,
    rows: Sequence[Any],
    *,
    said: Heartbeat,
    pilot: UUID,
) -> set[tuple[int, int]]:
    """Of the jobs renewed, those that are not to be renewed again. Their files are looked at only
    where it depends on them."""
    grace = context.terms.deadline_grace
    old = [row for row in rows if row["seconds"] > grace]
    if not old:
        return set()
    known = await context.tasks.get(connection, {row["task_uid"] for row in old})
    running = {(job.id, job.attempt): job for job in said.running}

    def judged(rows: Sequence[Any], sizes: Mapping[int, int]) -> dict[tuple[int, int], str]:
        reasons: dict[tuple[int, int], str] = {}
        for row in rows:
            key, task = (row["id"], row["attempt"]), known[row["task_uid"]].task
            job = running.get(key)
            size = sizes.get(row["id"], 0) + ((job.bytes or 0) if job else 0)
            kept = Kept(row["started"], row["seconds"], size, job.phase if job else None)
            allowed = Allowance(
                task.resources.time_limit, task.batch, task.container is not None, grace
            )
            if (reason := too_long(kept, allowed)) is not None:
                reasons[key] = f"pilot {pilot} {reason}"
        return reasons

    if suspects := judged(old, {}):
        sizes = {
            row["id"]: row["bytes"]
            for row in await connection.fetch(SELECT_BYTES, [key[0] for key in suspects])
        }
        suspects = judged([row for row in old if (row["id"], row["attempt"]) in suspects], sizes)
    if suspects:
        log.warning(
            "lease.not_renewed",
            pilot=str(pilot),
            jobs={key[0]: reason for key, reason in suspects.items()},
        )
        ids, attempts = [key[0] for key in suspects], [key[1] for key in suspects]
        await connection.execute(STOP_RENEWING, ids, attempts, list(suspects.values()))
    return set(suspects)


async def _commands(connection: Connection, pilot: UUID, lost: list[JobToken]) -> list[Command]:
    if not lost:
        return []
    owners = {
        row["id"]: row for row in await connection.fetch(SELECT_OWNERS, [job.id for job in lost])
    }
    commands: list[Command] = []
    for job in lost:
        row = owners.get(job.id)
        token = JobToken(id=job.id, attempt=job.attempt)
        if row is not None and (row["attempt"], row["pilot"]) == (job.attempt, pilot):
            state = JobState(row["state"])
            if state in _REPORTED:
                continue
            if state is JobState.CANCELED or state in _IN_FLIGHT:
                commands.append(Command(kind="cancel", job=token))
                continue
        commands.append(Command(kind="abandon", job=token))
    return commands
