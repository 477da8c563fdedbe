"""Statements on duplicate attempts at a job (speculative execution).

The job's row has one of the two attempts and ``duplicate_attempts`` has the other. All statements
follow the lock rule of ``wms/db/tasks/tasks.py``.

If the attempt in the job's row ends while the other continues, the two are swapped. So the
attempt in the job's row is always the one that ends the job or continues it.
"""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from sluice.contracts.pilots.leases import JobToken
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement
from wms.db.jobs.attempts import END_TIME, ENDED_CTE, INSERTION_CTE, EndedAttempt, attempt_row
from wms.db.jobs.leases import ClaimedJob, ExtendedLease

_CLAIM = statement("""
-- Lease job $2 of task $1 to pilot $4, which never had it, for $5. Attempt $3 must still run, with
-- fewer than $6 duplicate attempts so far. No job of the task may be ready, and the task may not
-- wait for space.
WITH task AS MATERIALIZED (
    SELECT uid FROM tasks
    WHERE uid = $1 AND ready = 0 AND state IN ('{task.SPLITTING}', '{task.ACTIVE}')
        AND NOT EXISTS (SELECT FROM storage_waits WHERE task_uid = $1)
    FOR NO KEY UPDATE
), job AS MATERIALIZED (
    SELECT * FROM jobs
    WHERE id = $2 AND attempt = $3 AND task_uid = (SELECT uid FROM task) AND pilot <> $4
        AND state = '{job.RUNNING}' AND stop_attempt IS DISTINCT FROM attempt
        AND NOT EXISTS (SELECT 1 FROM attempts WHERE job_id = $2 AND attempts.pilot = $4)
    FOR NO KEY UPDATE
), claimed AS (
    INSERT INTO duplicate_attempts AS s (job_id, task_uid, attempt, pilot, leased_at, lease_until)
    SELECT id, task_uid,
        greatest(attempt, (SELECT attempt FROM duplicate_attempts WHERE job_id = $2)) + 1,
        $4, statement_timestamp(), now() + $5
    FROM job
    ON CONFLICT (job_id) DO UPDATE SET
        attempt = excluded.attempt, tried = s.tried + 1, pilot = excluded.pilot,
        leased_at = excluded.leased_at, started_at = NULL, lease_until = excluded.lease_until,
        stop_reason = NULL
    WHERE s.lease_until IS NULL AND s.tried < $6
    RETURNING *
)
SELECT j.id, c.attempt, j.seq, j.inputs::text AS inputs, j.ram, j.gpu_memory
FROM claimed AS c JOIN job AS j ON j.id = c.job_id
""")

_SWAP_ATTEMPTS = """
-- Swap the two attempts of each job.
WITH original AS MATERIALIZED (SELECT * FROM jobs WHERE id = ANY($1::bigint[])),
duplicate AS MATERIALIZED (SELECT * FROM duplicate_attempts WHERE job_id = ANY($1::bigint[])),
swapped AS (
    UPDATE jobs AS j SET
        attempt = s.attempt, pilot = s.pilot, leased_at = s.leased_at, started_at = s.started_at,
        lease_until = s.lease_until, stop_reason = s.stop_reason,
        stop_attempt = CASE WHEN s.stop_reason IS NOT NULL THEN s.attempt END
    FROM duplicate AS s WHERE j.id = s.job_id
)
UPDATE duplicate_attempts AS s SET
    attempt = o.attempt, pilot = o.pilot, leased_at = o.leased_at, started_at = o.started_at,
    lease_until = o.lease_until,
    stop_reason = CASE WHEN o.stop_attempt = o.attempt THEN o.stop_reason END
FROM original AS o WHERE s.job_id = o.id
"""

_END_DUPLICATES_ONLY = f"""
-- End duplicate attempts ($1), and return their number. The other attempts of the jobs continue.
WITH {ENDED_CTE}, {INSERTION_CTE}, marked AS (
    UPDATE duplicate_attempts AS s SET lease_until = NULL FROM ended AS e
    WHERE s.job_id = e.id AND s.attempt = e.attempt AND s.lease_until IS NOT NULL
    RETURNING s.job_id
)
SELECT count(*) FROM marked
"""

_DELETE_DUPLICATES = statement(f"""
-- The jobs have ended or start again: delete their duplicate attempts, and cancel those that run.
-- The next attempt gets a higher number than both.
WITH gone AS (
    DELETE FROM duplicate_attempts WHERE job_id = ANY($1::bigint[]) RETURNING *
), counted AS (
    UPDATE jobs AS j SET attempt = g.attempt FROM gone AS g
    WHERE j.id = g.job_id AND j.attempt < g.attempt AND j.state <> '{{job.FINISHED}}'
)
INSERT INTO attempts (job_id, attempt, pilot, leased_at, started_at, ended_at, outcome, message)
SELECT job_id, attempt, pilot, leased_at, started_at, {END_TIME}, '{{outcome.CANCELED}}', $2
FROM gone WHERE lease_until IS NOT NULL
""")

_EXTEND = """
-- Renew the named attempts that are duplicates of pilot $4 and that it may continue. Record which
-- ones have started.
WITH named AS (
    SELECT id, attempt, bool_or(started) AS started
    FROM unnest($1::bigint[], $2::int[], $3::boolean[]) AS n(id, attempt, started)
    GROUP BY id, attempt
)
UPDATE duplicate_attempts AS s SET
    lease_until = now() + $5,
    started_at = CASE WHEN n.started THEN coalesce(s.started_at, now()) ELSE s.started_at END
FROM named AS n
WHERE s.job_id = n.id AND s.attempt = n.attempt AND s.pilot = $4 AND s.lease_until IS NOT NULL
    AND s.stop_reason IS NULL
RETURNING s.job_id AS id, s.attempt, s.task_uid, s.started_at IS NOT NULL AS started,
    extract(epoch FROM now() - coalesce(s.started_at, s.leased_at))::float AS seconds
"""


async def claim_duplicate(
    connection: Connection,
    job: JobToken,
    *,
    task: UUID,
    pilot: UUID,
    lease: timedelta,
    max_attempts: int,
) -> ClaimedJob | None:
    """Lease a duplicate attempt at the job of which ``job`` is the running attempt.

    Returns:
        None if that attempt has ended, is to be stopped or has a live duplicate; if the pilot had
            the job before; if jobs of the task wait, or the task waits for space; or if
            ``max_attempts`` duplicates were tried.
    """
    row = await connection.fetchrow(_CLAIM, task, job.id, job.attempt, pilot, lease, max_attempts)
    return None if row is None else ClaimedJob(task_uid=task, **row)


async def swap_attempts(connection: Connection, jobs: Sequence[int]) -> None:
    """Swap the attempts in the rows of these jobs with the duplicate attempts."""
    if jobs:
        await connection.execute(_SWAP_ATTEMPTS, jobs)


async def end_duplicates_only(connection: Connection, attempts: Sequence[EndedAttempt]) -> int:
    """Record the ends of duplicate attempts whose jobs continue, and return how many ended."""
    if not attempts:
        return 0
    ended: int = await connection.fetchval(
        _END_DUPLICATES_ONLY, [attempt_row(one) for one in attempts]
    )
    return ended


async def delete_duplicates(connection: Connection, jobs: Sequence[int], *, message: str) -> None:
    """Delete the duplicates of jobs that ended or start again, and cancel the live ones."""
    if jobs:
        await connection.execute(_DELETE_DUPLICATES, jobs, message)


async def extend_duplicates(
    connection: Connection,
    *,
    pilot: UUID,
    tokens: Sequence[tuple[JobToken, bool]],
    lease: timedelta,
) -> list[ExtendedLease]:
    """Renew leases of duplicate attempts.

    The function ``extend_leases`` does the same for the attempts in the rows of jobs. Each attempt
    is named with whether it has started.
    """
    if not tokens:
        return []
    ids, attempts = [job.id for job, _ in tokens], [job.attempt for job, _ in tokens]
    started = [is_started for _, is_started in tokens]
    rows = await connection.fetch(_EXTEND, ids, attempts, started, pilot, lease)
    return [ExtendedLease(**row) for row in rows]
