"""Data-taking periods, their runs, and the frames of runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

import asyncpg

from dms.domain.errors import UnknownFrameFile, UnknownPeriod
from sluice.contracts.data.runs import Frame, NewFrame, NewPeriod, NewRun, Period, Run
from sluice.servicekit.database import Connection

_INSERT_PERIOD = """
WITH made AS (
    INSERT INTO periods (name, goal, started_at, ended_at)
    VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING RETURNING *
),
owned AS (
    INSERT INTO span_owners (span, owner)
    SELECT 'period ' || name, $5 FROM made WHERE $5::text IS NOT NULL
)
SELECT * FROM made
"""
_SELECT_PERIOD = "SELECT * FROM periods WHERE name = $1"
_SELECT_PERIODS = "SELECT * FROM periods ORDER BY name"

_INSERT_RUN = """
-- Insert the run once, and count it in its period.
WITH made AS (
    INSERT INTO runs (number, period, conditions, started_at, ended_at)
    VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT DO NOTHING RETURNING *
),
owned AS (
    INSERT INTO span_owners (span, owner)
    SELECT 'run ' || number, $6 FROM made WHERE $6::text IS NOT NULL
),
counted AS (UPDATE periods SET runs = runs + 1 WHERE name IN (SELECT period FROM made))
SELECT * FROM made
"""
_SELECT_RUN = "SELECT * FROM runs WHERE number = $1"
_SELECT_RUNS = "SELECT * FROM runs WHERE $1::text IS NULL OR period = $1 ORDER BY number"

_INSERT_FRAMES = """
-- Insert frames with new numbers, and count them in their run.
WITH made AS (
    INSERT INTO frames (run, number, file_id, meta)
    SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::jsonb[])
    ON CONFLICT DO NOTHING RETURNING number
),
counted AS (UPDATE runs SET frames = frames + (SELECT count(*) FROM made) WHERE number = $1)
SELECT count(*) FROM made
"""
_SELECT_FRAMES_NUMBERED = "SELECT * FROM frames WHERE run = $1 AND number = ANY($2::bigint[])"
_SELECT_FRAMES = "SELECT * FROM frames WHERE run = $1 AND number > $2 ORDER BY number LIMIT $3"

_SELECT_OWNER = "SELECT owner FROM span_owners WHERE span = $1"

SpanT = TypeVar("SpanT", Period, Run)


@dataclass(frozen=True, slots=True)
class SpanTable(Generic[SpanT]):
    """A table of objects with a start and an end: periods or runs.

    Attributes:
        noun: The word for one of them in messages and in ``span_owners``.
        model: The model of a row.
        lock: SQL that locks the row of a key.
        set_end: SQL that sets the end of the row of a key.
    """

    noun: str
    model: type[SpanT]
    lock: str
    set_end: str


@dataclass(frozen=True, slots=True)
class SpanWithOwner(Generic[SpanT]):
    """A period or run, and who registered it; None if that is not known."""

    span: SpanT
    owner: str | None


PERIODS = SpanTable(
    "period",
    Period,
    lock="SELECT * FROM periods WHERE name = $1 FOR UPDATE",
    set_end="UPDATE periods SET ended_at = $2 WHERE name = $1 RETURNING *",
)
RUNS = SpanTable(
    "run",
    Run,
    lock="SELECT * FROM runs WHERE number = $1 FOR UPDATE",
    set_end="UPDATE runs SET ended_at = $2 WHERE number = $1 RETURNING *",
)


async def insert_period(connection: Connection, new: NewPeriod, owner: str | None) -> Period | None:
    """Store a period and return it; return None if the name is taken."""
    row = await connection.fetchrow(
        _INSERT_PERIOD, new.name, new.goal, new.started_at, new.ended_at, owner
    )
    return None if row is None else Period(**row)


async def find_period(connection: Connection, name: str) -> Period | None:
    """Return the period of this name; None if it does not exist."""
    row = await connection.fetchrow(_SELECT_PERIOD, name)
    return None if row is None else Period(**row)


async def list_periods(connection: Connection) -> list[Period]:
    """Return all periods by name."""
    return [Period(**row) for row in await connection.fetch(_SELECT_PERIODS)]


async def insert_run(connection: Connection, new: NewRun, owner: str | None) -> Run | None:
    """Store a run and return it; return None if the number is taken.

    Raises:
        UnknownPeriod: The period of the run is not registered.
    """
    try:
        row = await connection.fetchrow(
            _INSERT_RUN,
            new.number,
            new.period,
            new.conditions,
            new.started_at,
            new.ended_at,
            owner,
        )
    except asyncpg.ForeignKeyViolationError as error:
        raise UnknownPeriod(f"run {new.number}", new.period) from error
    return None if row is None else Run(**row)


async def find_run(connection: Connection, number: int) -> Run | None:
    """Return the run of this number; None if it does not exist."""
    row = await connection.fetchrow(_SELECT_RUN, number)
    return None if row is None else Run(**row)


async def list_runs(connection: Connection, period: str | None) -> list[Run]:
    """Return the runs of a period by number; ``period`` None returns all runs."""
    return [Run(**row) for row in await connection.fetch(_SELECT_RUNS, period)]


async def lock_span(
    connection: Connection, spans: SpanTable[SpanT], key: str | int
) -> SpanWithOwner[SpanT] | None:
    """Lock a period or run and return it; return None if it is not registered."""
    row = await connection.fetchrow(spans.lock, key)
    if row is None:
        return None
    owner = await connection.fetchval(_SELECT_OWNER, f"{spans.noun} {key}")
    return SpanWithOwner(spans.model(**row), owner)


async def set_end(
    connection: Connection, spans: SpanTable[SpanT], key: str | int, ended_at: datetime | None
) -> SpanT:
    """Set the end of a period or run that the caller has locked."""
    row = await connection.fetchrow(spans.set_end, key, ended_at)
    assert row is not None  # noqa: S101 - it is locked
    return spans.model(**row)


async def insert_frames(connection: Connection, run: int, frames: Sequence[NewFrame]) -> int:
    """Store frames of a run, and return how many were new.

    Raises:
        UnknownFrameFile: The file of a frame is not registered.
    """
    numbers, files = [frame.number for frame in frames], [frame.file_id for frame in frames]
    try:
        inserted: int = await connection.fetchval(
            _INSERT_FRAMES, run, numbers, files, [frame.meta for frame in frames]
        )
    except asyncpg.ForeignKeyViolationError as error:
        raise UnknownFrameFile(run, error.detail) from error
    return inserted


async def list_frames_by_number(
    connection: Connection, run: int, numbers: Sequence[int]
) -> dict[int, Frame]:
    """Return the frames of a run that have these numbers, by number."""
    return {
        row["number"]: Frame(**row)
        for row in await connection.fetch(_SELECT_FRAMES_NUMBERED, run, numbers)
    }


async def list_frames(connection: Connection, run: int, *, after: int, limit: int) -> list[Frame]:
    """Return a page of frames of a run by number."""
    return [Frame(**row) for row in await connection.fetch(_SELECT_FRAMES, run, after, limit)]
