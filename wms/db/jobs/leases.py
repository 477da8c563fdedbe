"""Statements on leases: jobs leased to pilots, renewed leases and expired leases.

All of them follow the lock rule of ``wms/db/tasks/tasks.py``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sluice.contracts.common.states import JobState
from sluice.contracts.pilots.leases import JobToken
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement

#: Seconds for which a job that is due after a failure goes only to pilots where it did not fail.
_ELSEWHERE_SECONDS = 10
_FAILED_AT = """EXISTS (
                    SELECT 1 FROM attempts AS a WHERE a.job_id = jobs.id AND a.pilot = {pilot}
                        AND a.outcome = '{{outcome.FAILED}}')"""

CLAIM_JOBS = statement(f"""
-- Lease up to $2 jobs of task $1 to pilot $3, with $4 MiB, and $6 MiB of a GPU, for $5. First come
-- due retries and jobs of files that arrived one by one, as they became ready. Then come jobs that
-- were created all at once, by seq and after the last one leased. Both parts read the index
-- jobs_ready from the first usable entry, however many jobs wait. If fewer jobs are leased than are
-- ready (some pause, or are locked), the next claim starts from the beginning. A job that failed on
-- this pilot goes first to pilots where it has not failed, so that a broken pilot does not use up
-- its attempts.
WITH task AS MATERIALIZED (
    SELECT uid, ready, claimed_seq FROM tasks
    WHERE uid = $1 AND ready > 0 AND state IN ('{{task.SPLITTING}}', '{{task.ACTIVE}}')
    FOR NO KEY UPDATE
), due AS (
    SELECT id FROM jobs
    WHERE task_uid = (SELECT uid FROM task) AND state = '{{job.READY}}'
        AND not_before > '-infinity' AND not_before <= now() AND (ram IS NULL OR ram <= $4)
        AND (gpu_memory IS NULL OR gpu_memory <= $6)
        AND (failures = 0 OR not_before <= now() - interval '{_ELSEWHERE_SECONDS} s'
            OR NOT {_FAILED_AT.format(pilot="$3")}
            OR NOT EXISTS (
                SELECT 1 FROM pilots AS p
                WHERE p.state = '{{pilot.ACTIVE}}' AND NOT {_FAILED_AT.format(pilot="p.uid")}))
    ORDER BY not_before, seq LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED
), fresh AS (
    SELECT id, seq FROM jobs
    WHERE task_uid = (SELECT uid FROM task) AND state = '{{job.READY}}' AND not_before = '-infinity'
        AND seq > (SELECT claimed_seq FROM task)
    ORDER BY seq LIMIT $2 - (SELECT count(*) FROM due) FOR NO KEY UPDATE SKIP LOCKED
), claimed AS (
    UPDATE jobs SET
        state = '{{job.LEASED}}', attempt = attempt + 1, pilot = $3,
        -- now() is too early: the transaction may have waited for a limit that another attempt used
        -- until now.
        leased_at = statement_timestamp(),
        lease_until = now() + $5, started_at = NULL, not_before = now()
    WHERE id = ANY(ARRAY(SELECT id FROM due UNION ALL SELECT id FROM fresh))
    RETURNING id, attempt, seq, inputs::text AS inputs, ram, gpu_memory
), counted AS (
    UPDATE tasks AS t SET
        ready = t.ready - c.jobs, leased = t.leased + c.jobs,
        claimed_seq = CASE WHEN c.jobs = least($2, task.ready)
            THEN greatest(task.claimed_seq, (SELECT max(seq) FROM fresh)) ELSE -1 END,
        served_at = CASE WHEN c.jobs > 0 THEN now() ELSE t.served_at END,
        started_at = CASE WHEN c.jobs > 0 THEN coalesce(t.started_at, now()) ELSE t.started_at END
    FROM task, (SELECT count(*) AS jobs FROM claimed) AS c
    WHERE t.uid = task.uid AND (c.jobs > 0 OR t.claimed_seq >= 0)
)
SELECT * FROM claimed ORDER BY seq
""")

_SELECT_LARGER = statement("""
-- The least memory above $2, and up to $3, that due jobs of the task need, and for how many seconds
-- they have been due.
SELECT min(ram) AS ram, extract(epoch FROM now() - min(not_before))::float AS waited FROM jobs
WHERE task_uid = $1 AND state = '{job.READY}' AND not_before > '-infinity' AND not_before <= now()
    AND ram > $2 AND ram <= $3
""")

_RESERVE_PILOT = statement("""
-- Reserve pilot $2 for a job of the task, unless another pilot is reserved.
UPDATE tasks SET reserved_by = $2, reserved_until = now() + $3
WHERE uid = $1 AND ready > 0 AND state IN ('{task.SPLITTING}', '{task.ACTIVE}')
    AND (reserved_until IS NULL OR reserved_until <= now())
RETURNING uid
""")

_EXTEND_LEASES = statement("""
-- Renew exactly the named attempts that pilot $4 still has and may continue. Started ones become
-- running, and are counted so. Return the seconds since their start, or since their lease.
WITH named AS (
    SELECT * FROM unnest($1::bigint[], $2::int[], $3::boolean[]) AS n(id, attempt, started)
), named_attempts AS (
    SELECT DISTINCT ON (j.id) j.id, j.attempt, j.task_uid,
        n.started AND j.state = '{job.LEASED}' AS starts, j.state = '{job.RUNNING}' AS runs,
        n.started AND j.started_at IS NULL AS begins, coalesce(j.started_at, j.leased_at) AS since
    FROM named AS n JOIN jobs AS j ON j.id = n.id AND j.attempt = n.attempt
    WHERE j.pilot = $4 AND j.state IN ('{job.LEASED}', '{job.RUNNING}')
        AND j.stop_attempt IS DISTINCT FROM j.attempt
    ORDER BY j.id, n.started DESC
), renewed AS (
    UPDATE jobs AS j SET
        lease_until = now() + $5,
        state = CASE WHEN h.starts THEN '{job.RUNNING}' ELSE j.state END,
        started_at = CASE WHEN h.begins THEN now() ELSE j.started_at END
    FROM named_attempts AS h WHERE j.id = h.id
), counted AS (
    UPDATE tasks AS t SET leased = t.leased - c.jobs, running = t.running + c.jobs
    FROM (SELECT task_uid, count(*) AS jobs FROM named_attempts WHERE starts GROUP BY task_uid) AS c
    WHERE t.uid = c.task_uid
)
SELECT id, attempt, task_uid, runs OR starts AS started,
    CASE WHEN begins THEN 0 ELSE extract(epoch FROM now() - since)::float END AS seconds
FROM named_attempts
""")

_SELECT_BYTES = """
-- Bytes of the inputs of each job, including inputs shared by all jobs of its task.
SELECT j.id,
    least(coalesce(sum((file->>'size')::bigint), 0), 9223372036854775807)::bigint AS bytes
FROM jobs AS j JOIN tasks AS t ON t.uid = j.task_uid
LEFT JOIN LATERAL jsonb_array_elements(j.inputs || coalesce(t.shared_inputs, '[]')) AS file ON true
WHERE j.id = ANY($1::bigint[]) GROUP BY j.id
"""

_STOP_RENEWING = """
-- Stop renewing these attempts, because they take too long.
WITH stopped AS (
    SELECT * FROM unnest($1::bigint[], $2::int[], $3::text[]) AS s(id, attempt, reason)
), first AS (
    UPDATE jobs AS j SET stop_attempt = j.attempt, stop_reason = s.reason FROM stopped AS s
    WHERE j.id = s.id AND j.attempt = s.attempt AND j.lease_until IS NOT NULL
)
UPDATE duplicate_attempts AS j SET stop_reason = s.reason FROM stopped AS s
WHERE j.job_id = s.id AND j.attempt = s.attempt AND j.lease_until IS NOT NULL
"""

_SELECT_LEASED = statement("""
-- The task of the job, if pilot $3 still has this attempt and may continue it.
SELECT task_uid FROM jobs
WHERE id = $1 AND attempt = $2 AND pilot = $3 AND state IN ('{job.LEASED}', '{job.RUNNING}')
    AND lease_until > now() AND stop_attempt IS DISTINCT FROM attempt
UNION ALL SELECT task_uid FROM duplicate_attempts
WHERE job_id = $1 AND attempt = $2 AND pilot = $3 AND lease_until > now() AND stop_reason IS NULL
""")

_SELECT_HOLDERS = statement("""
SELECT id, state, attempt, pilot FROM jobs WHERE id = ANY($1::bigint[])
UNION ALL SELECT job_id, '{job.LEASED}', attempt, pilot FROM duplicate_attempts
WHERE job_id = ANY($1::bigint[]) AND lease_until IS NOT NULL
""")

SELECT_EXPIRED = statement("""
-- The leases that expired first. $1 is the grace period.
(SELECT id FROM jobs
    WHERE state IN ('{job.LEASED}', '{job.RUNNING}') AND lease_until < now() - $1::interval
    ORDER BY lease_until LIMIT $2)
UNION ALL
(SELECT job_id FROM duplicate_attempts WHERE lease_until < now() - $1::interval
    ORDER BY lease_until LIMIT $2)
""")

_STILL_EXPIRED = statement("""
-- Check again under the lock, because a heartbeat may have arrived meanwhile.
SELECT id, attempt, pilot FROM jobs
WHERE id = ANY($1::bigint[]) AND state IN ('{job.LEASED}', '{job.RUNNING}')
    AND lease_until < now() - $2::interval
UNION ALL SELECT job_id, attempt, pilot FROM duplicate_attempts
WHERE job_id = ANY($1::bigint[]) AND lease_until < now() - $2::interval
""")


@dataclass(frozen=True, slots=True)
class ClaimedJob:
    """A job that was leased.

    Attributes:
        inputs: JSON text as stored; the pilot gets it unchanged.
    """

    id: int
    attempt: int
    task_uid: UUID
    seq: int
    inputs: str
    ram: int | None
    gpu_memory: int | None


@dataclass(frozen=True, slots=True)
class LargestFreeAmounts:
    """The most memory and GPU memory, in MiB, that a pilot has for one job now."""

    ram: int
    gpu: int


@dataclass(frozen=True, slots=True)
class LargerRequest:
    """The MiB that a job needs, and the seconds for which such jobs have been due."""

    ram: int
    waited: float


@dataclass(frozen=True, slots=True)
class ExtendedLease:
    """A renewed lease.

    Attributes:
        seconds: Seconds since the lease began, or since the job started if it has ``started``.
    """

    id: int
    attempt: int
    task_uid: UUID
    started: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class JobHolder:
    """The state of a job and the pilot that has it, or had it last."""

    state: JobState
    pilot: UUID | None


@dataclass(frozen=True, slots=True)
class PilotAttempt:
    """An attempt that a pilot has."""

    id: int
    attempt: int
    pilot: UUID


async def claim_jobs(
    connection: Connection,
    task: UUID,
    *,
    jobs: int,
    pilot: UUID,
    free: LargestFreeAmounts,
    lease: timedelta,
) -> list[ClaimedJob]:
    """Lease jobs of the task to the pilot and return them in order of seq.

    This is one statement, so it runs in its own transaction if none is open.
    """
    rows = await connection.fetch(CLAIM_JOBS, task, jobs, pilot, free.ram, lease, free.gpu)
    return [ClaimedJob(task_uid=task, **row) for row in rows]


async def find_larger_request(
    connection: Connection, task: UUID, *, above: int, limit: int
) -> LargerRequest | None:
    """Return the least memory that due jobs need beyond ``above`` MiB, up to ``limit`` MiB.

    Returns:
        None if there is no such job.
    """
    row = await connection.fetchrow(_SELECT_LARGER, task, above, limit)
    return None if row is None or row["ram"] is None else LargerRequest(**row)


async def reserve_pilot(
    connection: Connection, task: UUID, *, pilot: UUID, duration: timedelta
) -> bool:
    """Reserve the pilot for a job of the task.

    Returns:
        False if the task has a reservation already, or no job is ready.
    """
    return await connection.fetchval(_RESERVE_PILOT, task, pilot, duration) is not None


async def extend_leases(
    connection: Connection,
    *,
    pilot: UUID,
    running_jobs: Sequence[JobToken],
    waiting_jobs: Sequence[JobToken],
    lease: timedelta,
) -> list[ExtendedLease]:
    """Renew the leases of those of the attempts that the pilot still has; started jobs run now.

    Attempts that are marked to be stopped are not renewed. The caller must hold the locks of the
    tasks.
    """
    tokens = [*running_jobs, *waiting_jobs]
    started = [True] * len(running_jobs) + [False] * len(waiting_jobs)
    ids, attempts = [job.id for job in tokens], [job.attempt for job in tokens]
    rows = await connection.fetch(_EXTEND_LEASES, ids, attempts, started, pilot, lease)
    return [ExtendedLease(**row) for row in rows]


async def count_input_bytes(connection: Connection, jobs: Sequence[int]) -> dict[int, int]:
    """Return the bytes of the inputs of each job, shared inputs included."""
    rows = await connection.fetch(_SELECT_BYTES, jobs)
    return {row["id"]: row["bytes"] for row in rows}


async def stop_renewing(connection: Connection, reasons: Mapping[tuple[int, int], str]) -> None:
    """Mark attempts to be stopped, so that their leases are not renewed.

    The caller must hold the locks of the tasks. The reasons are by job and attempt.
    """
    ids, attempts = [job for job, _ in reasons], [attempt for _, attempt in reasons]
    await connection.execute(_STOP_RENEWING, ids, attempts, list(reasons.values()))


async def find_leased_task(connection: Connection, job: JobToken, *, pilot: UUID) -> UUID | None:
    """Return the task of the job, or None if the pilot no longer has this attempt."""
    task_uid: UUID | None = await connection.fetchval(_SELECT_LEASED, job.id, job.attempt, pilot)
    return task_uid


async def list_job_holders(
    connection: Connection, jobs: Sequence[int]
) -> dict[tuple[int, int], JobHolder]:
    """Return the holders by job and attempt; jobs that are not stored are left out."""
    return {
        (row["id"], row["attempt"]): JobHolder(JobState(row["state"]), row["pilot"])
        for row in await connection.fetch(_SELECT_HOLDERS, jobs)
    }


async def list_expired_leases(connection: Connection, *, grace: timedelta, limit: int) -> list[int]:
    """Return jobs whose leases ended more than ``grace`` ago, longest overdue first."""
    return [row["id"] for row in await connection.fetch(SELECT_EXPIRED, grace, limit)]


async def list_still_expired(
    connection: Connection, jobs: Sequence[int], *, grace: timedelta
) -> list[PilotAttempt]:
    """Return the attempts at these jobs whose leases have not been renewed meanwhile.

    The caller must hold the locks of the tasks.
    """
    return [PilotAttempt(**row) for row in await connection.fetch(_STILL_EXPIRED, jobs, grace)]
