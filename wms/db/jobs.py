"""Statements on jobs: claiming, renewing, ending attempts. All under the lock rule of
``wms/db/tasks.py``."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sluice.contracts.states import JobState
from sluice.servicekit.database import Connection
from wms.db.statement import statement

CLAIM_JOBS = statement("""
-- Up to $2 jobs of task $1 for pilot $3 with $4 MiB, for a lease of $5: due retries first, then jobs never leased, in order of
-- seq and behind those taken already. Both walk the index jobs_ready from its first usable entry, however many jobs wait.
-- Where fewer come than are ready (some pause, or a stranger locked them), the next claim looks from the beginning.
WITH task AS MATERIALIZED (
    SELECT uid, ready, claimed_seq FROM tasks
    WHERE uid = $1 AND ready > 0 AND state IN ('{task.SPLITTING}', '{task.ACTIVE}') FOR NO KEY UPDATE
), due AS (
    SELECT id FROM jobs
    WHERE task_uid = (SELECT uid FROM task) AND state = '{job.READY}' AND not_before > '-infinity' AND not_before <= now()
        AND (ram IS NULL OR ram <= $4)
    ORDER BY not_before, seq LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED
), fresh AS (
    SELECT id FROM jobs
    WHERE task_uid = (SELECT uid FROM task) AND state = '{job.READY}' AND not_before = '-infinity'
        AND seq > (SELECT claimed_seq FROM task)
    ORDER BY seq LIMIT $2 - (SELECT count(*) FROM due) FOR NO KEY UPDATE SKIP LOCKED
), claimed AS (
    UPDATE jobs SET
        state = '{job.LEASED}', attempt = attempt + 1, pilot = $3, leased_at = now(), lease_until = now() + $5, started_at = NULL,
        not_before = now()
    WHERE id = ANY(ARRAY(SELECT id FROM due UNION ALL SELECT id FROM fresh))
    RETURNING id, attempt, seq, inputs::text AS inputs, ram
), counted AS (
    UPDATE tasks AS t SET
        ready = t.ready - c.jobs, leased = t.leased + c.jobs,
        claimed_seq = CASE WHEN c.jobs = least($2, task.ready) THEN greatest(task.claimed_seq, c.last) ELSE -1 END,
        served_at = CASE WHEN c.jobs > 0 THEN now() ELSE t.served_at END,
        started_at = CASE WHEN c.jobs > 0 THEN coalesce(t.started_at, now()) ELSE t.started_at END
    FROM task, (SELECT count(*) AS jobs, max(seq) FILTER (WHERE attempt = 1) AS last FROM claimed) AS c
    WHERE t.uid = task.uid AND (c.jobs > 0 OR t.claimed_seq >= 0)
)
SELECT * FROM claimed ORDER BY seq
""")

SELECT_LARGER = statement("""
-- The least memory that due jobs of the task need which need more than $2, up to $3, and the seconds that they are due.
SELECT min(ram) AS ram, extract(epoch FROM now() - min(not_before))::float AS waited FROM jobs
WHERE task_uid = $1 AND state = '{job.READY}' AND not_before > '-infinity' AND not_before <= now() AND ram > $2 AND ram <= $3
""")

KEEP_FREE = statement("""
-- Pilot $2 is kept free for a job of the task, unless another one is.
UPDATE tasks SET kept_by = $2, kept_until = now() + $3
WHERE uid = $1 AND ready > 0 AND state IN ('{task.SPLITTING}', '{task.ACTIVE}') AND (kept_until IS NULL OR kept_until <= now())
RETURNING uid
""")

SELECT_IN_FLIGHT = statement("""
-- The named jobs that a pilot has at this moment.
SELECT id, task_uid, seq, state, attempt, pilot, failures, losses, ram, leased_at, started_at, inputs,
    CASE WHEN stop_attempt = attempt THEN stop_reason END AS stopping
FROM jobs WHERE id = ANY($1::bigint[]) AND state IN ('{job.LEASED}', '{job.RUNNING}')
""")

RENEW_LEASES = statement("""
-- Exactly the named attempts that are still this pilot's ($4) and that it is not to stop; those that have started become running,
-- and count so. With the seconds since it has them, or since they have started.
WITH named AS (
    SELECT * FROM unnest($1::bigint[], $2::int[], $3::boolean[]) AS n(id, attempt, started)
), held AS (
    SELECT DISTINCT ON (j.id) j.id, j.attempt, j.task_uid, n.started AND j.state = '{job.LEASED}' AS starts,
        j.state = '{job.RUNNING}' AS runs, coalesce(j.started_at, j.leased_at) AS since
    FROM named AS n JOIN jobs AS j ON j.id = n.id AND j.attempt = n.attempt
    WHERE j.pilot = $4 AND j.state IN ('{job.LEASED}', '{job.RUNNING}') AND j.stop_attempt IS DISTINCT FROM j.attempt
    ORDER BY j.id, n.started DESC
), renewed AS (
    UPDATE jobs AS j SET
        lease_until = now() + $5,
        state = CASE WHEN h.starts THEN '{job.RUNNING}' ELSE j.state END,
        started_at = CASE WHEN h.starts THEN now() ELSE j.started_at END
    FROM held AS h WHERE j.id = h.id
), counted AS (
    UPDATE tasks AS t SET leased = t.leased - c.jobs, running = t.running + c.jobs
    FROM (SELECT task_uid, count(*) AS jobs FROM held WHERE starts GROUP BY task_uid) AS c WHERE t.uid = c.task_uid
)
SELECT id, attempt, task_uid, runs OR starts AS started,
    CASE WHEN starts THEN 0 ELSE extract(epoch FROM now() - since)::float END AS seconds
FROM held
""")

SELECT_BYTES = """
-- Of the inputs of jobs, those that all jobs of a task get included.
SELECT j.id, least(coalesce(sum((file->>'size')::bigint), 0), 9223372036854775807)::bigint AS bytes
FROM jobs AS j JOIN tasks AS t ON t.uid = j.task_uid
LEFT JOIN LATERAL jsonb_array_elements(j.inputs || coalesce(t.shared_inputs, '[]')) AS file ON true
WHERE j.id = ANY($1::bigint[]) GROUP BY j.id
"""

STOP_RENEWING = """
-- Attempts that take too long: not renewed from now on. Under the lock of their tasks.
UPDATE jobs AS j SET stop_attempt = j.attempt, stop_reason = s.reason
FROM unnest($1::bigint[], $2::int[], $3::text[]) AS s(id, attempt, reason)
WHERE j.id = s.id AND j.attempt = s.attempt AND j.lease_until IS NOT NULL
"""

SELECT_EXPIRED = statement("""
-- The longest overdue leases; $1: grace.
SELECT id FROM jobs
WHERE state IN ('{job.LEASED}', '{job.RUNNING}') AND lease_until < now() - $1::interval
ORDER BY lease_until LIMIT $2
""")

STILL_EXPIRED = statement("""
-- Asked again under the lock: a heartbeat may have come meanwhile.
SELECT id FROM jobs
WHERE id = ANY($1::bigint[]) AND state IN ('{job.LEASED}', '{job.RUNNING}') AND lease_until < now() - $2::interval
""")

END_ATTEMPTS = statement("""
-- Moves the jobs and writes down the attempts ($1), changes the tasks' counters by differences ($2), so that their CHECKs catch
-- whatever would not add up, and counts for the pilot that reported ($3: uid or NULL; $4, $5: finished, failed). Guarded by
-- attempt and state: the caller expects a number of jobs moved, and rolls back on another. Times are the database's; a duration
-- is the only thing taken from a pilot's clock.
WITH ended AS (
    SELECT * FROM jsonb_to_recordset($1) AS e(
        id bigint, attempt int, state text, failures int, losses int, ram bigint, delay double precision,
        outcome text, reported text, exit_code int, error_class text, message text, peak_memory double precision,
        cpu_seconds double precision, log_url text, duration double precision, leased_at timestamptz, started_at timestamptz,
        pilot uuid)
), written AS (
    INSERT INTO attempts (job_id, attempt, pilot, leased_at, started_at, outcome, reported, exit_code, error_class, message,
        peak_memory, cpu_seconds, log_url)
    SELECT id, attempt, pilot, leased_at,
        CASE WHEN duration IS NULL THEN started_at ELSE greatest(leased_at, now() - make_interval(secs => duration)) END,
        outcome, reported, exit_code, error_class, message, peak_memory, cpu_seconds, log_url
    FROM ended
), moved AS (
    UPDATE jobs AS j SET
        state = e.state, failures = e.failures, losses = e.losses, ram = coalesce(e.ram, j.ram),
        not_before = now() + make_interval(secs => e.delay), lease_until = NULL,
        pilot = CASE WHEN e.state IN ('{job.READY}', '{job.HELD}') THEN NULL ELSE j.pilot END,
        ended_at = CASE WHEN e.state IN ('{job.READY}', '{job.HELD}') THEN NULL ELSE now() END,
        error_class = e.error_class, message = e.message,
        seconds = coalesce(CASE WHEN e.duration IS NULL THEN extract(epoch FROM now() - e.started_at)
            ELSE least(e.duration, extract(epoch FROM now() - e.leased_at)) END, 0),
        peak_memory = coalesce(e.peak_memory, 0)
    FROM ended AS e
    WHERE j.id = e.id AND j.attempt = e.attempt AND j.state IN ('{job.LEASED}', '{job.RUNNING}')
    RETURNING 1
), counted AS (
    UPDATE tasks AS t SET
        ready = t.ready + d.ready, leased = t.leased + d.leased, running = t.running + d.running,
        finished = t.finished + d.finished, failed = t.failed + d.failed, canceled = t.canceled + d.canceled,
        held = t.held + d.held, failed_attempts = t.failed_attempts + d.failed_attempts,
        errors = d.errors, registered = d.registered
    FROM jsonb_to_recordset($2) AS d(
        uid uuid, ready int, leased int, running int, finished int, failed int, canceled int, held int,
        failed_attempts int, errors jsonb, registered jsonb)
    WHERE t.uid = d.uid
), credited AS (
    UPDATE pilots SET finished = finished + $4, failed = failed + $5, seen_at = now() WHERE uid = $3
)
SELECT count(*) FROM moved
""")

CANCEL_IN_FLIGHT = statement("""
-- The task has ended: what pilots have of it is no longer wanted, and their reports will be stale.
WITH stopped AS (
    UPDATE jobs SET state = '{job.CANCELED}', ended_at = now(), lease_until = NULL, message = $2
    WHERE task_uid = $1 AND state IN ('{job.LEASED}', '{job.RUNNING}')
    RETURNING id, attempt, pilot, leased_at, started_at
)
INSERT INTO attempts (job_id, attempt, pilot, leased_at, started_at, outcome, message)
SELECT id, attempt, pilot, leased_at, started_at, '{outcome.CANCELED}', $2 FROM stopped
""")

CANCEL_WAITING = statement("""
UPDATE jobs SET state = '{job.CANCELED}', ended_at = now(), message = $2
WHERE task_uid = $1 AND state IN ('{job.READY}', '{job.HELD}')
""")

SELECT_ENDED = """
-- What became of attempts that are no longer in flight.
SELECT a.job_id, a.attempt, a.pilot, a.reported
FROM attempts AS a JOIN unnest($1::bigint[], $2::int[]) AS n(id, attempt) ON a.job_id = n.id AND a.attempt = n.attempt
"""

SELECT_OWNERS = "SELECT id, state, attempt, pilot FROM jobs WHERE id = ANY($1::bigint[])"

NOTIFY_READY = "SELECT pg_notify('wms_ready', '')"

#: A million rows are canceled in one transaction.
CANCEL_TIMEOUT = 900.0


@dataclass(frozen=True, slots=True)
class ClaimedJob:
    """``inputs`` is JSON text as stored: it goes to the pilot as it is."""

    id: int
    attempt: int
    task_uid: UUID
    seq: int
    inputs: str
    ram: int | None


@dataclass(frozen=True, slots=True)
class JobInFlight:
    """``stopping``: why its pilot was told to stop it."""

    id: int
    task_uid: UUID
    seq: int
    state: JobState
    attempt: int
    pilot: UUID
    failures: int
    losses: int
    ram: int | None
    leased_at: datetime
    started_at: datetime | None
    inputs: list[dict[str, Any]]
    stopping: str | None = None


async def claim_jobs(
    connection: Connection, task_uid: UUID, *, jobs: int, pilot: UUID, ram: int, lease: timedelta
) -> list[ClaimedJob]:
    """In order of seq. One statement, and so one transaction of its own where none is open."""
    rows = await connection.fetch(CLAIM_JOBS, task_uid, jobs, pilot, ram, lease)
    return [ClaimedJob(task_uid=task_uid, **row) for row in rows]


async def jobs_in_flight(connection: Connection, ids: Sequence[int]) -> dict[int, JobInFlight]:
    rows = await connection.fetch(SELECT_IN_FLIGHT, ids)
    return {row["id"]: JobInFlight(**{**row, "state": JobState(row["state"])}) for row in rows}
