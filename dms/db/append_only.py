"""Append-only data sets: the files appended to them, and the slices cut for each reader."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from dms.db.datasets import DatasetRow, to_dataset, to_row
from sluice.contracts.access.owners import Visibility
from sluice.contracts.data.append_only import CutSlice, SliceConsumer, SliceOf
from sluice.contracts.data.append_only_list import AppendOnlyDataset
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement

_LOCK_NAME = """
-- Only one transaction at a time creates the append-only data set of this name and group.
SELECT pg_advisory_xact_lock(hashtextextended('append_only ' || $2 || ' ' || $1, 0))
"""

_SELECT_APPEND_ONLY = statement("""
SELECT * FROM datasets
WHERE append_only = $1 AND owner_group = $2 AND state = '{dataset.OPEN}'
ORDER BY position LIMIT 1 FOR UPDATE
""")

_MARK_APPEND_ONLY = "UPDATE datasets SET append_only = $2 WHERE uid = $1 RETURNING *"
_MARK_SLICE = "UPDATE datasets SET slice = $2, shared_with = $3 WHERE uid = $1"

_SELECT_COLLECTED = """
SELECT append_only_uid, files FROM collections
WHERE source_uid = $1 AND append_only = $2 AND owner_group = $3
"""

_INSERT_COLLECTED = """
INSERT INTO collections (
    source_uid, append_only, owner_group, append_only_uid, files, until, generation
)
VALUES ($1, $2, $3, $4, $5, $6, coalesce((SELECT generation FROM slices WHERE dataset_uid = $7), 0))
"""

_APPEND_FILES = r"""
-- Append the files of the source by reference, in its order. They get new numbers and keep the
-- names that tools gave them. sluice/contracts/common/naming.py defines that part of a name.
WITH found AS MATERIALIZED (
    SELECT d.name, d.file_id, f.size, $3 - 1 + row_number() OVER (ORDER BY d.seq, d.name) AS place
    FROM dataset_files d JOIN files f ON f.id = d.file_id
    WHERE d.dataset_uid = $2 AND d.released_at IS NULL
),
linked AS (
    INSERT INTO dataset_files (dataset_uid, name, seq, file_id)
    SELECT $1,
        lpad(place::text, greatest(8, length(place::text)), '0') || '.0-' || regexp_replace(
            name, '^(?:[0-9]{8}|[1-9][0-9]{8,})\.[0-9]+-(.+)$', '\1'
        ),
        place, file_id
    FROM found
)
SELECT count(*) AS files, coalesce(sum(size), 0) AS bytes FROM found
"""

_CUT_FILES = """
-- Link the files with numbers from $3 up to, but not including, $4.
WITH given AS MATERIALIZED (
    SELECT name, seq, file_id FROM dataset_files
    WHERE dataset_uid = $2 AND seq >= $3 AND seq < $4
),
linked AS (
    INSERT INTO dataset_files (dataset_uid, name, seq, file_id) SELECT $1, * FROM given
)
SELECT count(*) AS files, coalesce(sum(f.size), 0) AS bytes
FROM given JOIN files f ON f.id = given.file_id
"""

_SELECT_SLICE = """
SELECT dataset_uid FROM slices WHERE append_only_uid = $1 AND reader = $2 AND occasion = $3
"""

_SELECT_LAST_SLICE = """
SELECT number, used FROM slices WHERE append_only_uid = $1 AND reader = $2
ORDER BY number DESC LIMIT 1
"""


def _build_highest_generation(append_only: str, first: str) -> str:
    """Return SQL for the highest generation of files with numbers from ``first`` on."""
    return f"""
    (SELECT coalesce(max(generation), 0) FROM collections
     WHERE append_only_uid = {append_only} AND until > {first} AND generation > 0 AND files > 0)
"""


_INSERT_SLICE = f"""
INSERT INTO slices (append_only_uid, reader, number, used, occasion, dataset_uid, generation)
VALUES ($1, $2, $3, $4, $5, $6, 1 + {_build_highest_generation("$1", "$7")})
"""

_LIST_APPEND_ONLY = statement(f"""
-- A data set that is being deleted no longer grows.
SELECT *, {_build_highest_generation("uid", "0")} AS generation FROM datasets
WHERE append_only IS NOT NULL AND state = '{{dataset.OPEN}}' AND ($2::uuid IS NULL OR uid = $2)
    AND ($1::text[] IS NULL OR owner_group = ANY($1) OR shared_with && $1)
ORDER BY position
""")

_LIST_READERS = f"""
-- The last slice of each trigger, and the generation of the files after it.
SELECT last.*, {_build_highest_generation("last.append_only_uid", "last.used")} AS generation FROM (
    SELECT DISTINCT ON (append_only_uid, reader)
        append_only_uid, reader, number, used, at, dataset_uid
    FROM slices WHERE append_only_uid = ANY($1::uuid[])
    ORDER BY append_only_uid, reader, number DESC
) AS last ORDER BY append_only_uid, reader
"""


@dataclass(frozen=True, slots=True)
class CollectedSource:
    """The record that the files of a source were appended.

    Attributes:
        where: The append-only data set.
        files: Number of files of the source.
        until: The first number after theirs.
    """

    where: UUID
    files: int
    until: int


@dataclass(frozen=True, slots=True)
class AppendedFiles:
    """The number of appended files and their size in bytes."""

    files: int
    size: int


@dataclass(frozen=True, slots=True)
class LastSlice:
    """The number of the last slice and the first number after its files; ``number`` 0: no slice."""

    number: int = 0
    used: int = 0


async def lock_append_only(connection: Connection, name: str, group: str) -> DatasetRow | None:
    """Lock a group's append-only data set, and its name; return None if it does not exist yet."""
    await connection.execute(_LOCK_NAME, name, group)
    row = await connection.fetchrow(_SELECT_APPEND_ONLY, name, group)
    return None if row is None else to_row(row)


async def mark_append_only(connection: Connection, uid: UUID, name: str) -> DatasetRow:
    """Mark a data set as append-only under a name, and return it."""
    row = await connection.fetchrow(_MARK_APPEND_ONLY, uid, name)
    assert row is not None  # noqa: S101 - it was made in this transaction
    return to_row(row)


async def mark_slice(
    connection: Connection, uid: UUID, slice_of: SliceOf, *, shared_with: Sequence[str]
) -> None:
    """Mark a data set as a slice, and set the groups it is shared with."""
    await connection.execute(_MARK_SLICE, uid, slice_of.model_dump(mode="json"), shared_with)


async def find_collected(
    connection: Connection, source: UUID, name: str, group: str
) -> tuple[UUID, int] | None:
    """Return where the files of a source were appended, and how many; None if they were not."""
    row = await connection.fetchrow(_SELECT_COLLECTED, source, name, group)
    return None if row is None else (row["append_only_uid"], row["files"])


async def note_collected(
    connection: Connection,
    source: UUID,
    name: str,
    group: str,
    *,
    source_record: CollectedSource,
    chain_input: UUID | None,
) -> None:
    """Record that the files of a source were appended.

    Args:
        connection: A connection to the catalogue.
        source: The data set whose files were appended.
        name: Name of the append-only data set.
        group: Its group.
        source_record: Where the files are.
        chain_input: The input of the chain that wrote them. If it is a slice, the files get its
            generation.
    """
    await connection.execute(
        _INSERT_COLLECTED,
        source,
        name,
        group,
        source_record.where,
        source_record.files,
        source_record.until,
        chain_input,
    )


async def append_files(
    connection: Connection, append_only: UUID, source: UUID, *, first: int
) -> AppendedFiles:
    """Append the files of a source by reference, from number ``first`` on.

    The caller has locked both data sets.
    """
    row = await connection.fetchrow(_APPEND_FILES, append_only, source, first)
    assert row is not None  # noqa: S101 - an aggregate
    return AppendedFiles(row["files"], int(row["bytes"]))


async def cut_files(
    connection: Connection, uid: UUID, append_only: UUID, *, first: int, until: int
) -> AppendedFiles:
    """Link the files from number ``first`` up to before ``until`` into a slice.

    The caller has locked the append-only data set.
    """
    row = await connection.fetchrow(_CUT_FILES, uid, append_only, first, until)
    assert row is not None  # noqa: S101 - an aggregate
    return AppendedFiles(row["files"], int(row["bytes"]))


async def find_slice(connection: Connection, append_only: UUID, cut: CutSlice) -> UUID | None:
    """Return the slice that was cut for this reader and occasion; None if there is none."""
    slice_uid: UUID | None = await connection.fetchval(
        _SELECT_SLICE, append_only, cut.reader, cut.occasion
    )
    return slice_uid


async def get_last_slice(connection: Connection, append_only: UUID, reader: str) -> LastSlice:
    """Return the last slice of a reader."""
    row = await connection.fetchrow(_SELECT_LAST_SLICE, append_only, reader)
    return LastSlice() if row is None else LastSlice(row["number"], row["used"])


async def note_slice(
    connection: Connection,
    slice_of: SliceOf,
    *,
    first: int,
    used_entries: int,
    occasion: str | None,
    dataset: UUID,
) -> None:
    """Record the slice that was cut. ``first`` is the lowest number that it may have."""
    await connection.execute(
        _INSERT_SLICE,
        slice_of.append_only,
        slice_of.reader,
        slice_of.number,
        used_entries,
        occasion,
        dataset,
        first,
    )


async def list_append_only(
    connection: Connection,
    visibility: Visibility,
    *,
    uid: UUID | None = None,
    generations: bool = False,
) -> list[AppendOnlyDataset]:
    """Return open append-only data sets with their readers, in order of registration.

    Args:
        connection: A connection to the catalogue.
        visibility: The visibility of the principal.
        uid: Only this data set.
        generations: Fill in the generations, which are 0 otherwise.
    """
    rows = await connection.fetch(_LIST_APPEND_ONLY, visibility.names(), uid)
    readers: dict[UUID, list[SliceConsumer]] = {row["uid"]: [] for row in rows}
    for row in await connection.fetch(_LIST_READERS, list(readers)):
        at: datetime = row["at"]
        readers[row["append_only_uid"]].append(
            SliceConsumer(
                name=row["reader"],
                used=row["used"],
                slices=row["number"],
                last_at=at,
                last=row["dataset_uid"],
                generation=row["generation"] if generations else 0,
            )
        )
    return [
        AppendOnlyDataset(
            dataset=to_dataset(row),
            since=row["registered_at"],
            readers=readers[row["uid"]],
            generation=row["generation"] if generations else 0,
        )
        for row in rows
    ]
