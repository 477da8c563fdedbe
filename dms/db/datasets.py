"""Data sets: their rows, and the guarded state transitions that requests cause."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg

from dms.domain.errors import UnknownPeriod
from dms.domain.transitions import DATASET_MOVES
from sluice.contracts.common.life_cycles import states_before
from sluice.contracts.common.states import DatasetState, DatasetType
from sluice.contracts.data.counts import PRODUCED
from sluice.contracts.data.datasets import Dataset, NewDataset
from sluice.servicekit.access.ownership import Ownership
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement
from sluice.text.visible_text import quoted

#: Advisory lock under which closing positions are drawn, so that they become visible in order.
_CLOSING_LOCK = 0x534C_434C

_INSERT_DATASET = """
INSERT INTO datasets
    (uid, name, type, meta, period, run, on_demand, url, request, owner, owner_group, copied,
        conditions)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12,
    coalesce((SELECT conditions FROM runs WHERE number = $6), '{}'))
ON CONFLICT (name) DO NOTHING RETURNING *
"""

_SELECT_DATASET = "SELECT * FROM datasets WHERE uid = $1"
_SELECT_DATASET_BY_NAME = "SELECT * FROM datasets WHERE name = $1"
SELECT_UIDS_BY_NAME = """
-- The data set registered under the name. If there is none, outputs of chains whose `output_name`
-- it is.
SELECT uid FROM datasets WHERE name = $1
UNION ALL
SELECT uid FROM datasets
WHERE meta->>'output_name' = $1 AND meta ? 'chain'
    AND NOT EXISTS (SELECT FROM datasets WHERE name = $1)
"""

_LOCK_DATASET = """
-- Files are registered into a data set by one transaction at a time.
SELECT * FROM datasets WHERE uid = $1 FOR UPDATE
"""

_ADD_TO_COUNTERS = """
-- Limit the sum to the column's maximum: a file is not lost because of its size.
UPDATE datasets
SET count_files = count_files + $2,
    bytes = least(bytes::numeric + $3::numeric, 9223372036854775807),
    close_at = coalesce(close_at, $4), counts = coalesce($5, counts)
WHERE uid = $1
"""

_NOTE_LATE_FILES = statement("""
-- Files arrived at a data set that is being deleted or is gone. The deletion or the sweep must look
-- again.
UPDATE datasets SET late_files = true,
    sweep_at = CASE WHEN state = '{dataset.DELETED}' THEN now() ELSE sweep_at END
WHERE uid = $1
""")

_TAKE_CLOSING_LOCK = "SELECT pg_advisory_xact_lock($1)"

_CLOSE_DATASETS = """
-- The caller holds the closing lock. Positions and times rise in the same order, and no two times
-- are equal. Times are not those of transaction starts, and never before the last one, even if the
-- clock goes back. Folders that Sluice writes are due for a sweep.
WITH base AS MATERIALIZED (
    SELECT greatest(clock_timestamp(), (
        SELECT closed_at FROM datasets WHERE closed_position IS NOT NULL
        ORDER BY closed_position DESC LIMIT 1
    )) AS time
),
closing AS MATERIALIZED (
    SELECT uid, nextval('closed_positions') AS place, row_number() OVER () AS turn FROM (
        SELECT uid FROM datasets
        WHERE uid = ANY($1::uuid[]) AND state = ANY($2::text[])
            AND (close_at IS NULL OR count_files >= close_at)
        ORDER BY position
    ) AS complete
)
UPDATE datasets AS d
SET state = $3, closed_at = base.time + closing.turn * interval '1 microsecond',
    closed_position = closing.place,
    sweep_at = CASE WHEN type <> $4 AND url IS NOT NULL THEN now() END,
    close_at = coalesce(close_at, count_files),
    -- Record how much the jobs wrote.
    meta = CASE WHEN type = ANY($5::text[])
        THEN meta || jsonb_build_object(
            $6::text, counts || jsonb_build_object('files', count_files, 'bytes', bytes)
        )
        ELSE meta END
FROM base, closing
WHERE d.uid = closing.uid AND state = ANY($2::text[])
    AND (close_at IS NULL OR count_files >= close_at)
RETURNING d.*
"""

SELECT_COMPLETE = statement("""
-- Open data sets that have all their files. Skip locked rows until the next round: waiting for them
-- with the closing lock could take forever.
SELECT uid FROM datasets
WHERE state = '{dataset.OPEN}' AND close_at IS NOT NULL AND count_files >= close_at
ORDER BY position LIMIT $1 FOR UPDATE SKIP LOCKED
""")

_CLOSE_AT = statement("""
UPDATE datasets SET close_at = $2
WHERE uid = $1 AND state = '{dataset.OPEN}' AND close_at IS DISTINCT FROM $2
""")

_MARK_DELETING = """
-- This ends any work on the data set: the holder of the claim notices the changed state. A repeated
-- request resumes a halted deletion.
UPDATE datasets SET state = $3, failures = 0, retry_at = NULL, reason = NULL, halted_at = NULL
WHERE uid = $1 AND (state = ANY($2::text[]) OR (state = $3 AND halted_at IS NOT NULL))
RETURNING uid
"""

_REQUEST_UPLOAD = """
UPDATE datasets SET upload_requested_at = coalesce(upload_requested_at, now()) WHERE uid = $1
"""

_RESUME_DATASET = """
UPDATE datasets SET halted_at = NULL, retry_at = NULL, reason = NULL, lost = NULL
WHERE uid = $1 AND halted_at IS NOT NULL
"""

_BEGIN_UPLOAD = """
-- Only data sets that are closed and that somebody asked to upload.
UPDATE datasets SET state = $3, failures = 0, retry_at = NULL, reason = NULL, halted_at = NULL
WHERE uid = ANY($1::uuid[]) AND state = ANY($2::text[]) AND upload_requested_at IS NOT NULL
"""


@dataclass(frozen=True, slots=True)
class DatasetRow:
    """A data set with the columns that only the DMS knows."""

    dataset: Dataset
    position: int
    closed_position: int | None
    request: dict[str, Any]
    close_at: int | None
    registered_at: datetime
    #: Sums of the counts that tools reported for its files.
    counts: dict[str, int]
    #: Why the last work on it failed, while no instance works on it. With ``halted``, no instance
    #: will try again until a person resumes it.
    failure: str | None
    halted: bool
    #: Number of files that were released before the data set is deleted.
    released: int
    #: Its files are copies: the user who registered it has the originals.
    copied: bool
    #: A task released files of it that are not registered yet.
    read_ahead: bool
    #: Its upload to the output storage was requested.
    to_upload: bool
    #: Why its upload cannot succeed.
    lost: str | None


def to_dataset(row: asyncpg.Record) -> Dataset:
    """Build a data set from a row of the table."""
    return Dataset(
        uid=row["uid"],
        name=row["name"],
        type=DatasetType(row["type"]),
        state=DatasetState(row["state"]),
        meta=row["meta"],
        period=row["period"],
        run=row["run"],
        conditions=row["conditions"],
        on_demand=row["on_demand"],
        url=row["url"],
        count_files=row["count_files"],
        bytes=row["bytes"],
        timestamp=row["closed_at"] or row["registered_at"],
        closed_at=row["closed_at"],
        owner=row["owner"],
        group=row["owner_group"],
        shared_with=row["shared_with"],
        append_only=row["append_only"],
        slice=row["slice"],
    )


def to_row(row: asyncpg.Record) -> DatasetRow:
    """Build a ``DatasetRow`` from a row of the table."""
    return DatasetRow(
        to_dataset(row),
        row["position"],
        row["closed_position"],
        row["request"],
        row["close_at"],
        row["registered_at"],
        row["counts"],
        row["reason"] if row["claim_token"] is None else None,
        row["halted_at"] is not None,
        row["released"],
        row["copied"],
        row["read_ahead"],
        row["upload_requested_at"] is not None,
        row["lost"],
    )


async def insert_dataset(
    connection: Connection,
    uid: UUID,
    new: NewDataset,
    *,
    period: str | None,
    ownership: Ownership,
) -> Dataset | None:
    """Insert a data set and return it; return None if its name or folder is taken.

    Raises:
        UnknownPeriod: The period is not registered.
    """
    try:
        async with connection.transaction():  # a failure here spares the outer transaction
            row = await connection.fetchrow(
                _INSERT_DATASET,
                uid,
                new.name,
                new.type,
                new.meta,
                period,
                new.run,
                new.on_demand,
                new.url,
                new.model_dump(mode="json"),
                ownership.owner,
                ownership.group,
                new.copied,
            )
    except asyncpg.ForeignKeyViolationError as error:
        raise UnknownPeriod(f"data set {quoted(new.name)}", period) from error
    except asyncpg.UniqueViolationError:
        return None
    return None if row is None else to_dataset(row)


async def find_dataset(connection: Connection, uid: UUID) -> DatasetRow | None:
    """Return the data set with this uid; None if it does not exist."""
    row = await connection.fetchrow(_SELECT_DATASET, uid)
    return None if row is None else to_row(row)


async def find_free_name(connection: Connection, name: str) -> str:
    """Return the first of ``name-2``, ``name-3`` … that no data set has had."""
    number = 2
    while await find_dataset_by_name(connection, free := f"{name[:190]}-{number}") is not None:
        number += 1
    return free


async def list_uids_by_name(connection: Connection, name: str) -> list[UUID]:
    """Return the data set of this name, or else the outputs of chains with this output name."""
    return [row["uid"] for row in await connection.fetch(SELECT_UIDS_BY_NAME, name)]


async def find_dataset_by_name(connection: Connection, name: str) -> DatasetRow | None:
    """Return the data set of this name; None if it does not exist."""
    row = await connection.fetchrow(_SELECT_DATASET_BY_NAME, name)
    return None if row is None else to_row(row)


async def lock_dataset(connection: Connection, uid: UUID) -> DatasetRow | None:
    """Lock a data set until the transaction ends, and return it; None if it does not exist."""
    row = await connection.fetchrow(_LOCK_DATASET, uid)
    return None if row is None else to_row(row)


async def add_to_counters(
    connection: Connection,
    uid: UUID,
    *,
    files: int,
    size: int,
    close_at: int | None,
    counts: dict[str, int] | None,
) -> None:
    """Add files to the counters of a data set.

    Args:
        connection: A connection to the catalogue.
        uid: The data set.
        files: Number of files to add.
        size: Bytes to add.
        close_at: Number of files at which the data set closes; ignored if one is set already.
        counts: The new sums of what tools counted; None keeps the sums.
    """
    await connection.execute(_ADD_TO_COUNTERS, uid, files, size, close_at, counts)


async def note_late_files(connection: Connection, uid: UUID) -> None:
    """Record that files came to a data set that is being deleted or is deleted.

    The deletion looks at the data set again, or the sweep is due at once.
    """
    await connection.execute(_NOTE_LATE_FILES, uid)


async def take_closing_lock(connection: Connection) -> None:
    """Take the closing lock until the transaction ends.

    Take it before any row lock. A holder of row locks then never waits for it, and no deadlock
    occurs.
    """
    await connection.execute(_TAKE_CLOSING_LOCK, _CLOSING_LOCK)


async def mark_closed(connection: Connection, uids: Sequence[UUID]) -> list[Dataset]:
    """Close the data sets that are open and complete, and return them.

    The caller holds the closing lock.
    """
    uploadable = [DatasetType.INTERMEDIATE, DatasetType.OUTPUT]
    rows = await connection.fetch(
        _CLOSE_DATASETS,
        uids,
        states_before(DATASET_MOVES, DatasetState.CLOSED),
        DatasetState.CLOSED,
        DatasetType.INPUT,
        uploadable,
        PRODUCED,
    )
    return [to_dataset(row) for row in rows]


async def list_complete_datasets(connection: Connection, limit: int) -> list[UUID]:
    """Return open data sets that have all their files; skip those that are locked."""
    return [row["uid"] for row in await connection.fetch(SELECT_COMPLETE, limit)]


async def set_close_at(connection: Connection, uid: UUID, files: int) -> None:
    """Set the number of files at which an open data set closes."""
    await connection.execute(_CLOSE_AT, uid, files)


async def mark_dataset_deleting(connection: Connection, uid: UUID) -> bool:
    """Set a data set to deleting, or resume a halted deletion; return False if neither applies."""
    marked = await connection.fetchval(
        _MARK_DELETING,
        uid,
        states_before(DATASET_MOVES, DatasetState.DELETING),
        DatasetState.DELETING,
    )
    return marked is not None


async def request_upload(connection: Connection, uid: UUID) -> None:
    """Record that the upload of a data set was requested."""
    await connection.execute(_REQUEST_UPLOAD, uid)


async def resume_dataset(connection: Connection, uid: UUID) -> None:
    """Resume halted work on a data set."""
    await connection.execute(_RESUME_DATASET, uid)


async def begin_uploads(connection: Connection, uids: Sequence[UUID]) -> None:
    """Start the upload of those data sets that are closed and whose upload was requested."""
    await connection.execute(
        _BEGIN_UPLOAD,
        uids,
        states_before(DATASET_MOVES, DatasetState.UPLOADING),
        DatasetState.UPLOADING,
    )
