"""A pilot's heartbeat: renews what it has, tells it what it no longer has."""

from uuid import UUID

from sluice.contracts.pilots import Command, Heartbeat, HeartbeatAnswer, JobToken
from sluice.contracts.states import JobState, PilotState
from sluice.servicekit.database import Connection
from wms.db.jobs import RENEW_LEASES, SELECT_OWNERS
from wms.db.pilots import touch_pilot
from wms.db.tasks import lock_tasks_of_jobs
from wms.domain.tokens import possible
from wms.usecases.workload import Workload

#: The pilot has reported such a job: it needs to be told nothing.
_REPORTED = frozenset({JobState.FINISHED, JobState.FAILED})


async def renew_leases(workload: Workload, pilot: UUID, heartbeat: Heartbeat) -> HeartbeatAnswer:
    """Precondition: the pilot has registered.

    Effect: the leases on the jobs named, as far as they are still this pilot's, last until now + ``lease`` by the database's
    clock; started ones are running. The answer commands ``cancel`` for attempts canceled meanwhile, ``abandon`` for those that
    are somebody else's. Messages: none. Raises ``NotFound`` for an unknown pilot.
    """
    named: list[tuple[JobToken, bool]] = [(job, True) for job in possible(heartbeat.running)]
    named += [(job, False) for job in possible(heartbeat.waiting)]
    async with workload.database.connection() as connection:
        seen = await touch_pilot(connection, pilot)
    commands: list[Command] = []
    if named:
        ids = [job.id for job, _ in named]
        async with workload.database.transaction() as tx:
            await lock_tasks_of_jobs(tx.connection, ids)
            attempts, started = [job.attempt for job, _ in named], [runs for _, runs in named]
            rows = await tx.connection.fetch(RENEW_LEASES, ids, attempts, started, pilot, workload.terms.span)
            renewed = {(row["id"], row["attempt"]) for row in rows}
            lost = [job for job, _ in named if (job.id, job.attempt) not in renewed]
            commands = await _commands(tx.connection, pilot, lost)
    return HeartbeatAnswer(lease=workload.terms.lease, commands=commands, drain=seen.state is not PilotState.ACTIVE)


async def _commands(connection: Connection, pilot: UUID, lost: list[JobToken]) -> list[Command]:
    if not lost:
        return []
    owners = {row["id"]: row for row in await connection.fetch(SELECT_OWNERS, [job.id for job in lost])}
    commands: list[Command] = []
    for job in lost:
        row = owners.get(job.id)
        token = JobToken(id=job.id, attempt=job.attempt)
        if row is not None and (row["attempt"], row["pilot"]) == (job.attempt, pilot):
            state = JobState(row["state"])
            if state is JobState.CANCELED:
                commands.append(Command(kind="cancel", job=token))
            if state is JobState.CANCELED or state in _REPORTED:
                continue
        commands.append(Command(kind="abandon", job=token))
    return commands
