"""Statements on the statistics of pilots, and on jobs that may get a duplicate attempt."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, NamedTuple
from uuid import UUID

from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement
from wms.db.tasks.steps import PRIORITY, TASKS_WITH_PRIORITY
from wms.domain.scheduling.pilot_times import FEW_FAILURES, SUSPECT, PilotTimes


class PilotIdentity(NamedTuple):
    """The name and host of a pilot, which stay the same when it restarts."""

    name: str
    host: str

    @property
    def in_words(self) -> str:
        """The pilot in words, for people."""
        return f"{self.name} ({self.host})"


class WorkKind(NamedTuple):
    """A kind of work: the step of a template."""

    template: str
    step: str


_SELECT_RUNNING = statement(f"""
-- Up to $1 running jobs without a duplicate attempt, the longest first. Their tasks have no ready
-- jobs, and their steps are not disabled. Uses the index jobs_in_flight.
SELECT j.id, j.attempt, j.task_uid, j.pilot, j.ram, j.gpu_memory, t.template, t.step, p.name,
    p.host, extract(epoch FROM now() - j.started_at)::float8 AS ran, coalesce(s.tried, 0) AS tried
FROM {TASKS_WITH_PRIORITY} JOIN jobs AS j ON j.task_uid = t.uid
JOIN pilots AS p ON p.uid = j.pilot LEFT JOIN duplicate_attempts AS s ON s.job_id = j.id
WHERE {PRIORITY} >= 0 AND j.state = '{{job.RUNNING}}' AND j.started_at IS NOT NULL
    AND j.stop_attempt IS DISTINCT FROM j.attempt
    AND t.ready = 0 AND t.state IN ('{{task.SPLITTING}}', '{{task.ACTIVE}}')
    AND s.lease_until IS NULL
ORDER BY j.started_at LIMIT $1
""")

_TIMES = "template, step, name, host, jobs, failures, log_seconds, spread, failing, rescued"
_FIGURES = ("jobs", "failures", "log_seconds", "spread", "failing", "rescued")

_SELECT_TIMES = f"""
SELECT {_TIMES} FROM pilot_times
WHERE (template, step) IN (SELECT * FROM unnest($1::text[], $2::text[]))
"""

_LOCK_TIMES = f"""
-- In order of the key, because several instances may update one pilot.
SELECT {_TIMES} FROM pilot_times
WHERE (template, step, name, host) IN (
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]))
ORDER BY template, step, name, host FOR UPDATE
"""

_SET_TIMES = f"""
INSERT INTO pilot_times ({_TIMES})
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[],
    $7::float8[], $8::float8[], $9::float8[], $10::bigint[])
ON CONFLICT (template, step, name, host) DO UPDATE SET
    jobs = excluded.jobs, failures = excluded.failures, log_seconds = excluded.log_seconds,
    spread = excluded.spread, failing = excluded.failing,
    rescued = excluded.rescued, seen_at = now()
"""

_SELECT_IDENTITIES = "SELECT uid, name, host FROM pilots WHERE uid = ANY($1::uuid[])"

_SELECT_OF_PILOT = f"""
-- Uses the index pilot_times_by_identity.
SELECT {_TIMES} FROM pilot_times WHERE name = $1 AND host = $2
ORDER BY seen_at DESC, template, step LIMIT $3
"""

_SELECT_ACTIVE = statement("SELECT name, host FROM pilots WHERE state = '{pilot.ACTIVE}'")

_SELECT_FAILING = statement(f"""
-- Kinds of work at which some pilot fails often. Uses the index pilot_times_failing.
SELECT DISTINCT template, step FROM pilot_times
WHERE failing > {SUSPECT} AND failures >= {FEW_FAILURES}
""")

_SELECT_PROBE = """
-- Whether the pilot got no such job within the last $5 seconds.
SELECT coalesce(probed_at < now() - make_interval(secs => $5), true) FROM pilot_times
WHERE template = $1 AND step = $2 AND name = $3 AND host = $4
"""

_RECORD_PROBE = """
UPDATE pilot_times SET probed_at = now()
WHERE template = $1 AND step = $2 AND name = $3 AND host = $4
"""

_FORGET = """
-- Pilots that have not done this kind of work for $1 days.
DELETE FROM pilot_times WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM pilot_times WHERE seen_at < now() - make_interval(days => $1) LIMIT $2))
"""


@dataclass(frozen=True, slots=True)
class RunningJob:
    """A running job that may get a duplicate attempt.

    Attributes:
        ram: MiB, if it differs from the task's request.
        gpu_memory: MiB, if it differs from the task's request.
        ran: Seconds since it started.
        tried: Number of duplicate attempts so far.
    """

    id: int
    attempt: int
    task_uid: UUID
    pilot: UUID
    ram: int | None
    gpu_memory: int | None
    work: WorkKind
    identity: PilotIdentity
    ran: float
    tried: int = 0


@dataclass(frozen=True, slots=True)
class Stragglers:
    """Running jobs, longest first, with the statistics of their work.

    Attributes:
        times: The statistics by pilot.
        anywhere: The statistics of all pilots.
    """

    jobs: Sequence[RunningJob]
    times: "TimesByWork"
    anywhere: Mapping[WorkKind, PilotTimes | None]


TimesByWork = dict[WorkKind, dict[PilotIdentity, PilotTimes]]


async def list_running_jobs(connection: Connection, *, limit: int) -> list[RunningJob]:
    """Return the longest running jobs that may get a duplicate attempt."""
    return [_build_running_job(dict(row)) for row in await connection.fetch(_SELECT_RUNNING, limit)]


def _build_running_job(row: dict[str, Any]) -> RunningJob:
    work = WorkKind(row.pop("template"), row.pop("step"))
    return RunningJob(work=work, identity=PilotIdentity(row.pop("name"), row.pop("host")), **row)


async def list_times(connection: Connection, works: Iterable[WorkKind]) -> TimesByWork:
    """Return the statistics of these kinds of work, by pilot."""
    kinds = list(set(works))
    rows = await connection.fetch(
        _SELECT_TIMES, [work.template for work in kinds], [work.step for work in kinds]
    )
    times: TimesByWork = {}
    for row in rows:
        times.setdefault(_build_work_kind(row), {})[build_identity(row)] = _build_times(row)
    return times


async def list_times_of_pilot(
    connection: Connection, identity: PilotIdentity, *, limit: int
) -> list[tuple[WorkKind, PilotTimes]]:
    """Return the statistics of the pilot, latest work first."""
    rows = await connection.fetch(_SELECT_OF_PILOT, identity.name, identity.host, limit)
    return [(_build_work_kind(row), _build_times(row)) for row in rows]


async def lock_times(
    connection: Connection, keys: Sequence[tuple[WorkKind, PilotIdentity]]
) -> dict[tuple[WorkKind, PilotIdentity], PilotTimes]:
    """Lock the known statistics of these pilots until the transaction ends, and return them."""
    rows = await connection.fetch(_LOCK_TIMES, *_list_columns(keys))
    return {(_build_work_kind(row), build_identity(row)): _build_times(row) for row in rows}


async def set_times(
    connection: Connection, times: Mapping[tuple[WorkKind, PilotIdentity], PilotTimes]
) -> None:
    """Store the statistics of pilots."""
    figures = [attrgetter(*_FIGURES)(each) for each in times.values()]
    await connection.execute(
        _SET_TIMES, *_list_columns(list(times)), *map(list, zip(*figures, strict=True))
    )


async def list_identities(
    connection: Connection, pilots: Iterable[UUID]
) -> dict[UUID, PilotIdentity]:
    """Return the identities of the pilots."""
    rows = await connection.fetch(_SELECT_IDENTITIES, list(set(pilots)))
    return {row["uid"]: build_identity(row) for row in rows}


async def list_active_identities(connection: Connection) -> set[PilotIdentity]:
    """Return the identities of the active pilots."""
    return {build_identity(row) for row in await connection.fetch(_SELECT_ACTIVE)}


async def list_failing_works(connection: Connection) -> list[WorkKind]:
    """Return the kinds of work at which some pilot fails often."""
    return [_build_work_kind(row) for row in await connection.fetch(_SELECT_FAILING)]


async def may_probe(
    connection: Connection, work: WorkKind, identity: PilotIdentity, *, every: float
) -> bool:
    """Return whether the pilot may get one job to see whether it still fails.

    It may if the last such job that was recorded is ``every`` seconds ago.
    """
    return bool(await connection.fetchval(_SELECT_PROBE, *work, *identity, every))


async def record_probe(connection: Connection, work: WorkKind, identity: PilotIdentity) -> None:
    """Store that the pilot got a job that shows whether it still fails."""
    await connection.execute(_RECORD_PROBE, *work, *identity)


async def forget_times(connection: Connection, *, days: int, limit: int) -> None:
    """Delete statistics of pilots that have not been updated for ``days`` days."""
    await connection.execute(_FORGET, days, limit)


def _list_columns(keys: Sequence[tuple[WorkKind, PilotIdentity]]) -> list[list[str]]:
    rows = ((*work, *identity) for work, identity in keys)
    return [list(column) for column in zip(*rows, strict=True)]


def _build_work_kind(row: Any) -> WorkKind:
    return WorkKind(row["template"], row["step"])


def build_identity(row: Any) -> PilotIdentity:
    """Return the pilot identity of a row."""
    return PilotIdentity(row["name"], row["host"])


def _build_times(row: Any) -> PilotTimes:
    return PilotTimes(*(row[name] for name in _FIGURES))
