"""Statements on one pilot: its current jobs and its last attempts.

Both are read along indexes from the latest backwards, so the cost does not depend on the pilot's
history.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.common.problems import NotFound
from sluice.contracts.common.states import AttemptOutcome
from sluice.contracts.pilots.pilot_detail import KnownWork, PilotDetail, PilotJob, PilotStep
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement
from wms.db.jobs.in_flight import ATTEMPTS_IN_FLIGHT, IN_FLIGHT
from wms.db.pilots.pilot_pages import PILOT_COLUMNS, build_pilot
from wms.db.pilots.pilot_times import PilotIdentity, WorkKind, list_times_of_pilot
from wms.domain.scheduling.pilot_times import PilotTimes

#: Most attempts that are shown one by one, and most that are read for the summary by step.
MAX_LISTED, MAX_SUMMARISED = 20, 1000

_SELECT_PILOT = statement(f"""
WITH in_flight AS ({IN_FLIGHT})
SELECT {PILOT_COLUMNS}
FROM pilots AS p LEFT JOIN in_flight AS f ON f.pilot = p.uid WHERE p.uid = $1
""")

SELECT_JOBS = statement(f"""
-- There are at most a few for each slot of a pilot, found by the index jobs_in_flight.
WITH in_flight AS MATERIALIZED ({ATTEMPTS_IN_FLIGHT})
SELECT j.id AS job_id, j.attempt, j.task_uid, t.chain_uid, t.step, j.seq, j.leased_at, j.started_at
FROM in_flight AS j JOIN tasks AS t ON t.uid = j.task_uid
WHERE j.pilot = $1 AND ($3::text[] IS NULL OR t.owner_group = ANY($3))
ORDER BY j.started_at NULLS LAST, j.leased_at, j.id LIMIT $2
""")

SELECT_ENDED = """
-- The latest attempts of the pilot. Uses the index attempts_by_pilot.
SELECT a.job_id, a.attempt, j.task_uid, t.chain_uid, t.step, t.template, j.seq, a.outcome,
    a.leased_at, a.started_at, a.ended_at, a.error_class, a.message,
    extract(epoch FROM a.ended_at - a.started_at)::float8 AS seconds
FROM (SELECT * FROM attempts WHERE pilot = $1 ORDER BY ended_at DESC LIMIT $2) AS a
JOIN jobs AS j ON j.id = a.job_id JOIN tasks AS t ON t.uid = j.task_uid
WHERE $3::text[] IS NULL OR t.owner_group = ANY($3)
ORDER BY a.ended_at DESC, a.job_id
"""


async def get_pilot_detail(
    connection: Connection, uid: UUID, visibility: Visibility = ALL
) -> PilotDetail:
    """Return a pilot with its jobs and attempts.

    Args:
        connection: A database connection.
        uid: The pilot.
        visibility: Visibility: the groups whose jobs are included.

    Raises:
        NotFound: No pilot with this uid has registered.
    """
    pilot = await connection.fetchrow(_SELECT_PILOT, uid)
    if pilot is None:
        raise NotFound(f"no pilot {uid} has registered", pilot=uid)
    jobs = await connection.fetch(SELECT_JOBS, uid, MAX_SUMMARISED, visibility.names())
    ended = await connection.fetch(SELECT_ENDED, uid, MAX_SUMMARISED, visibility.names())
    visible_steps = {(row["step"], row["template"]) for row in ended}
    failed = [row for row in ended if AttemptOutcome(row["outcome"]) in _FAILURES]
    return PilotDetail(
        pilot=build_pilot(dict(pilot)),
        jobs=[PilotJob(**row) for row in jobs],
        ended=[_build_pilot_job(row) for row in ended[:MAX_LISTED]],
        failures=[_build_pilot_job(row) for row in failed[:MAX_LISTED]],
        steps=_by_step(ended),
        attempts=len(ended),
        known=[
            _build_known_work(work, times)
            for work, times in await list_times_of_pilot(
                connection, PilotIdentity(pilot["name"], pilot["host"]), limit=MAX_LISTED
            )
            if visibility.groups is None or (work.step, work.template) in visible_steps
        ],
    )


_FAILURES = frozenset({AttemptOutcome.FAILED, AttemptOutcome.LOST})


def _build_known_work(work: WorkKind, times: PilotTimes) -> KnownWork:
    seconds, likely = (times.typical, times.likely) if times.timed else (None, None)
    return KnownWork(
        step=work.step,
        template=work.template,
        jobs=times.jobs,
        failures=times.failures,
        seconds=seconds,
        likely=likely,
        failing=times.failing,
    )


def _build_pilot_job(row: Any) -> PilotJob:
    return PilotJob(**{name: value for name, value in row.items() if name != "template"})


def _by_step(rows: Sequence[Any]) -> list[PilotStep]:
    rows_by_step: dict[tuple[str, str], list[Any]] = {}
    for row in rows:
        rows_by_step.setdefault((row["step"], row["template"]), []).append(row)
    return [
        _build_pilot_step(step, template, attempts)
        for (step, template), attempts in sorted(rows_by_step.items())
    ]


def _build_pilot_step(step: str, template: str, rows: Sequence[Any]) -> PilotStep:
    finished = [row for row in rows if row["outcome"] == AttemptOutcome.FINISHED]
    times = [row["seconds"] for row in finished if row["seconds"] is not None]
    return PilotStep(
        step=step,
        template=template,
        finished=len(finished),
        failed=sum(row["outcome"] in _FAILURES for row in rows),
        mean=sum(times) / len(times) if times else None,
        longest=max(times, default=None),
    )
