"""Statements on the ends of attempts: reported, lost, returned or canceled.

All of them follow the lock rule of ``wms/db/tasks/tasks.py``.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from sluice.contracts.common.states import AttemptOutcome, ErrorClass, JobState
from sluice.contracts.data.datasets import NewFile
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement
from wms.domain.retry_rules import RetryDecision

_SELECT_IN_FLIGHT = statement("""
-- The named jobs that a pilot has now, each with its duplicate attempt if there is or was one. The
-- columns follow the fields of JobInFlight and SiblingAttempt.
SELECT j.id, j.task_uid, j.seq, j.state, j.attempt, j.pilot, j.failures, j.losses, j.ram,
    j.gpu_memory, j.leased_at, j.started_at, j.inputs,
    extract(epoch FROM now() - j.leased_at)::float8 AS since_lease,
    extract(epoch FROM now() - j.started_at)::float8 AS ran,
    CASE WHEN j.stop_attempt = j.attempt THEN j.stop_reason END AS stopping,
    s.attempt AS duplicate_attempt, s.pilot AS duplicate_pilot, s.leased_at AS duplicate_leased_at,
    s.started_at AS duplicate_started_at,
    extract(epoch FROM now() - s.leased_at)::float8 AS duplicate_since_lease,
    extract(epoch FROM now() - s.started_at)::float8 AS duplicate_ran,
    s.lease_until IS NOT NULL AS duplicate_lives, s.stop_reason AS duplicate_stopping
FROM jobs AS j LEFT JOIN duplicate_attempts AS s ON s.job_id = j.id
WHERE j.id = ANY($1::bigint[]) AND j.state IN ('{job.LEASED}', '{job.RUNNING}')
""")

#: SQL: the end time. The transaction may have begun before the lease or start: it may have waited
#: for a lock.
END_TIME = "greatest(now(), leased_at, started_at)"
#: CTEs: the attempts that have ended ($1), and their insertion into ``attempts``.
ENDED_CTE = """ended AS (
    SELECT * FROM jsonb_to_recordset($1) AS e(
        id bigint, attempt int, state text, failures int, losses int, ram bigint, gpu bigint,
        delay double precision, outcome text, reported text, exit_code int, error_class text,
        message text, peak_memory double precision, cpu_seconds double precision, log_url text,
        duration double precision, leased_at timestamptz, started_at timestamptz, pilot uuid)
)"""
INSERTION_CTE = f"""written AS (
    INSERT INTO attempts (job_id, attempt, pilot, leased_at, started_at, ended_at, outcome,
        reported, exit_code, error_class, message, peak_memory, cpu_seconds, log_url)
    SELECT id, attempt, pilot, leased_at,
        CASE WHEN duration IS NULL THEN started_at
            ELSE greatest(leased_at, now() - make_interval(secs => duration)) END,
        {END_TIME}, outcome, reported, exit_code, error_class, message, peak_memory, cpu_seconds,
        log_url
    FROM ended
)"""

_END_ATTEMPTS = statement(f"""
-- End attempts of jobs that pilots have or that people answer. Update the jobs and insert the
-- attempts ($1), change the counters of tasks by differences ($2), so that CHECKs catch wrong sums,
-- and count for the pilot that reported ($3: uid or NULL; $4, $5: finished, failed). Guarded by
-- attempt and state: the caller expects a number of updated jobs, and rolls back otherwise. Times
-- are those of the database, and only durations come from a pilot's clock.
WITH {ENDED_CTE}, {INSERTION_CTE}, moved AS (
    UPDATE jobs AS j SET
        state = e.state, failures = e.failures, losses = e.losses, ram = coalesce(e.ram, j.ram),
        gpu_memory = coalesce(e.gpu, j.gpu_memory),
        not_before = now() + make_interval(secs => e.delay), lease_until = NULL,
        pilot = CASE WHEN e.state NOT IN ('{{job.READY}}', '{{job.QUARANTINED}}') THEN j.pilot END,
        ended_at = CASE WHEN e.state NOT IN ('{{job.READY}}', '{{job.QUARANTINED}}') THEN now() END,
        error_class = e.error_class, message = e.message,
        seconds = coalesce(e.duration, extract(epoch FROM now() - e.started_at), 0),
        peak_memory = coalesce(e.peak_memory, 0)
    FROM ended AS e
    WHERE j.id = e.id AND j.attempt = e.attempt
        AND j.state IN ('{{job.LEASED}}', '{{job.RUNNING}}', '{{job.ASKED}}')
    RETURNING j.task_uid, e.state, j.seconds::float8 AS seconds,
        extract(epoch FROM now() - j.ready_at)::float8 AS whole
), times AS (
    -- A job waits whenever it does not run. Attempts that did not count are waiting time.
    SELECT task_uid, count(*) AS timed, sum(seconds) AS worked,
        sum(greatest(whole - seconds, 0)) AS waited
    FROM moved WHERE state = '{{job.FINISHED}}' AND whole IS NOT NULL GROUP BY task_uid
), counted AS (
    UPDATE tasks AS t SET
        ready = t.ready + d.ready, leased = t.leased + d.leased, running = t.running + d.running,
        finished = t.finished + d.finished, failed = t.failed + d.failed,
        canceled = t.canceled + d.canceled, quarantined = t.quarantined + d.quarantined,
        asked = t.asked + d.asked,
        failed_attempts = t.failed_attempts + d.failed_attempts,
        errors = d.errors, registered = d.registered,
        timed = t.timed + coalesce(n.timed, 0), worked = t.worked + coalesce(n.worked, 0),
        waited = t.waited + coalesce(n.waited, 0)
    FROM jsonb_to_recordset($2) AS d(
        uid uuid, ready int, leased int, running int, finished int, failed int, canceled int,
        quarantined int, asked int, failed_attempts int, errors jsonb, registered jsonb)
    LEFT JOIN times AS n ON n.task_uid = d.uid
    WHERE t.uid = d.uid
), credited AS (
    UPDATE pilots SET finished = finished + $4, failed = failed + $5, seen_at = now() WHERE uid = $3
)
SELECT count(*) FROM moved
""")

CANCEL_IN_FLIGHT = statement(f"""
-- The task has ended. Pilots are to stop its jobs, and reports of these attempts are stale.
WITH stopped AS (
    UPDATE jobs SET state = '{{job.CANCELED}}', ended_at = now(), lease_until = NULL, message = $2
    WHERE task_uid = $1 AND state IN ('{{job.LEASED}}', '{{job.RUNNING}}')
    RETURNING id, attempt, pilot, leased_at, started_at
)
INSERT INTO attempts (job_id, attempt, pilot, leased_at, started_at, ended_at, outcome, message)
SELECT id, attempt, pilot, leased_at, started_at, {END_TIME}, '{{outcome.CANCELED}}', $2
FROM stopped
""")

_CANCEL_DUPLICATES = statement(f"""
-- Cancel the duplicate attempts of task $1, which has ended.
WITH stopped AS (DELETE FROM duplicate_attempts WHERE task_uid = $1 RETURNING *), counted AS (
    UPDATE jobs AS j SET attempt = s.attempt FROM stopped AS s
    WHERE j.id = s.job_id AND j.attempt < s.attempt
)
INSERT INTO attempts (job_id, attempt, pilot, leased_at, started_at, ended_at, outcome, message)
SELECT job_id, attempt, pilot, leased_at, started_at, {END_TIME}, '{{outcome.CANCELED}}', $2
FROM stopped WHERE lease_until IS NOT NULL
""")

_CANCEL_WAITING = statement("""
UPDATE jobs SET state = '{job.CANCELED}', ended_at = now(), message = $2
WHERE task_uid = $1 AND state IN ('{job.READY}', '{job.QUARANTINED}', '{job.ASKED}')
""")

_SELECT_REPORTED = """
-- The reports of pilot $3 for attempts that have ended.
SELECT a.job_id, a.attempt, a.reported
FROM attempts AS a JOIN unnest($1::bigint[], $2::int[]) AS n(id, attempt)
    ON a.job_id = n.id AND a.attempt = n.attempt
WHERE a.pilot = $3 AND a.reported IS NOT NULL
"""

_SELECT_ENDED = statement("""
SELECT id FROM jobs WHERE id = ANY($1::bigint[])
    AND state IN ('{job.FINISHED}', '{job.FAILED}', '{job.CANCELED}')
""")

#: Seconds. One transaction may cancel a million rows.
_CANCEL_TIMEOUT = 900.0


@dataclass(frozen=True, slots=True)
class SiblingAttempt:
    """The other attempt at a job that has a duplicate attempt.

    Attributes:
        since_lease: Seconds since its lease, by the database's clock.
        ran: Seconds since its start, by the database's clock. None if it has not started.
        lives: Whether it has not ended.
        stopping: Why its pilot was told to stop it.
    """

    attempt: int
    pilot: UUID
    leased_at: datetime
    started_at: datetime | None
    since_lease: float
    ran: float | None
    lives: bool
    stopping: str | None


@dataclass(frozen=True, slots=True)
class JobInFlight:
    """A job with one of its attempts.

    Attributes:
        since_lease: As in ``SiblingAttempt``.
        ran: As in ``SiblingAttempt``.
        stopping: As in ``SiblingAttempt``.
        sibling: The other attempt, if there is or was a duplicate.
        is_duplicate: Whether this one is stored in the table ``duplicate_attempts``.
    """

    id: int
    task_uid: UUID
    seq: int
    state: JobState
    attempt: int
    pilot: UUID
    failures: int
    losses: int
    ram: int | None
    gpu_memory: int | None
    leased_at: datetime
    started_at: datetime | None
    inputs: list[dict[str, Any]]
    since_lease: float = 0.0
    ran: float | None = None
    stopping: str | None = None
    sibling: SiblingAttempt | None = None
    is_duplicate: bool = False

    @property
    def live_sibling(self) -> SiblingAttempt | None:
        """The other attempt, if it still lives."""
        return self.sibling if self.sibling is not None and self.sibling.lives else None

    def at(self, attempt: int, pilot: UUID) -> "JobInFlight | None":
        """Return the job as seen from this attempt of the pilot; None if it has no such attempt."""
        if (self.attempt, self.pilot) == (attempt, pilot):
            return self
        sibling = self.live_sibling
        if sibling is None or (sibling.attempt, sibling.pilot) != (attempt, pilot):
            return None
        own = SiblingAttempt(
            self.attempt,
            self.pilot,
            self.leased_at,
            self.started_at,
            self.since_lease,
            self.ran,
            True,
            self.stopping,
        )
        return replace(
            self,
            attempt=sibling.attempt,
            pilot=sibling.pilot,
            leased_at=sibling.leased_at,
            started_at=sibling.started_at,
            since_lease=sibling.since_lease,
            ran=sibling.ran,
            stopping=sibling.stopping,
            sibling=own,
            is_duplicate=True,
        )


#: Positions in a row: the first column of the duplicate attempt, and the column of the state.
_SIBLING_INDEX, _STATE_INDEX = map(JobInFlight.__slots__.index, ("sibling", "state"))


@dataclass(frozen=True, slots=True)
class EndedAttempt:
    """An attempt that has ended, and what follows for its job.

    Attributes:
        verdict: The next state of the job.
        reported: None if the pilot reported nothing.
        duration: Seconds the job ran by the pilot's clock, at most the time since its lease.
        files: The files that are registered with it, by data set.
        spent_amounts: Used amounts of the job's resources by name. A resource not named here counts
            as fully used.
    """

    job: JobInFlight
    outcome: AttemptOutcome
    verdict: RetryDecision
    reported: AttemptOutcome | None = None
    error: ErrorClass | None = None
    message: str = ""
    exit_code: int | None = None
    peak_memory: float | None = None
    cpu_seconds: float | None = None
    log_url: str | None = None
    duration: float | None = None
    files: Sequence[tuple[UUID, NewFile]] = ()
    spent_amounts: Mapping[str, float] = field(default_factory=dict)

    @property
    def leaves_job_in_flight(self) -> bool:
        """Whether the sibling attempt continues, so that the job is still in flight."""
        return self.verdict.state in {JobState.LEASED, JobState.RUNNING}


@dataclass(frozen=True, slots=True)
class TaskChange:
    """Changes in the row of a task that follow from ends of its attempts.

    Attributes:
        deltas: Changes of its job counts, by state.
        errors: New totals of the task by class of error.
        registered_counts: New totals of the task by data set.
    """

    task: UUID
    deltas: Mapping[JobState, int]
    failed_attempts: int
    errors: Mapping[str, int]
    registered_counts: Mapping[str, int]


async def list_jobs_in_flight(
    connection: Connection, jobs: Sequence[int]
) -> dict[int, JobInFlight]:
    """Return those of the jobs that a pilot has, by job id."""
    rows = await connection.fetch(_SELECT_IN_FLIGHT, jobs)
    return {row["id"]: _in_flight(tuple(row)) for row in rows}


def _in_flight(columns: Sequence[Any]) -> JobInFlight:
    """Return the job of one row; a busy WMS reads thousands of rows a second."""
    sibling = None if columns[_SIBLING_INDEX] is None else SiblingAttempt(*columns[_SIBLING_INDEX:])
    fields = [*columns[:_SIBLING_INDEX], sibling]
    fields[_STATE_INDEX] = JobState(fields[_STATE_INDEX])
    return JobInFlight(*fields)


async def end_attempts(
    connection: Connection,
    attempts: Sequence[EndedAttempt],
    changes: Sequence[TaskChange],
    *,
    pilot: UUID | None,
    duplicates: Sequence[EndedAttempt] = (),
) -> int:
    """Record the ends of attempts, move their jobs, and return how many jobs moved.

    The caller must hold the locks of the tasks. ``pilot`` is the one that reported, if any.
    ``duplicates``: attempts in its report whose jobs continue in the sibling attempt.
    """
    outcomes = Counter(attempt.outcome for attempt in (*attempts, *duplicates))
    moved: int = await connection.fetchval(
        _END_ATTEMPTS,
        [attempt_row(attempt) for attempt in attempts],
        [_change_row(change) for change in changes],
        pilot,
        outcomes[AttemptOutcome.FINISHED],
        outcomes[AttemptOutcome.FAILED],
    )
    return moved


def attempt_row(attempt: EndedAttempt) -> dict[str, Any]:
    """Return the attempt as a JSON row of the ``ended`` record set."""
    job, verdict = attempt.job, attempt.verdict
    return {
        "id": job.id,
        "attempt": job.attempt,
        "pilot": job.pilot,
        "leased_at": job.leased_at,
        "started_at": job.started_at,
        "state": verdict.state,
        "failures": verdict.failures,
        "losses": verdict.losses,
        "ram": verdict.ram,
        "gpu": verdict.gpu,
        "delay": verdict.delay,
        "outcome": attempt.outcome,
        "reported": attempt.reported,
        "exit_code": attempt.exit_code,
        "error_class": attempt.error,
        "message": attempt.message,
        "peak_memory": attempt.peak_memory,
        "cpu_seconds": attempt.cpu_seconds,
        "log_url": attempt.log_url,
        "duration": attempt.duration,
    }


def _change_row(change: TaskChange) -> dict[str, Any]:
    return {
        "uid": change.task,
        **{state.value: change.deltas.get(state, 0) for state in JobState},
        "failed_attempts": change.failed_attempts,
        "errors": change.errors,
        "registered": change.registered_counts,
    }


async def cancel_jobs_in_flight(connection: Connection, task: UUID, *, message: str) -> None:
    """Cancel the leased and running jobs of the task, and their duplicate attempts."""
    await connection.execute(CANCEL_IN_FLIGHT, task, message)
    await connection.execute(_CANCEL_DUPLICATES, task, message)


async def cancel_waiting_jobs(connection: Connection, task: UUID, *, message: str) -> None:
    """Cancel the ready, quarantined and unanswered jobs of the task."""
    await connection.execute(_CANCEL_WAITING, task, message, timeout=_CANCEL_TIMEOUT)


async def list_reported_outcomes(
    connection: Connection, attempts: Sequence[tuple[int, int]], *, pilot: UUID
) -> dict[tuple[int, int], AttemptOutcome]:
    """Return the outcomes that the pilot reported in accepted reports, by job and attempt."""
    if not attempts:
        return {}
    ids, numbers = [job for job, _ in attempts], [attempt for _, attempt in attempts]
    return {
        (row["job_id"], row["attempt"]): AttemptOutcome(row["reported"])
        for row in await connection.fetch(_SELECT_REPORTED, ids, numbers, pilot)
    }


async def list_ended_jobs(connection: Connection, ids: Sequence[int]) -> set[int]:
    """Return those of the jobs that have ended."""
    return {row["id"] for row in await connection.fetch(_SELECT_ENDED, ids)} if ids else set()
