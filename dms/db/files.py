"""Files of data sets: registration in bulk, and reading page by page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import asyncpg

from dms.domain.completeness import UsedNumbers
from dms.domain.differences import KnownFile, SubmittedFile
from dms.domain.errors import PlaceRegisteredConcurrently
from sluice.contracts.common.states import ReplicaState
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement

CHECK_NAMES_AND_PLACES = statement("""
-- Return whether the data set has any of these names, and whether any file is at these places.
SELECT
    EXISTS (
        SELECT 1 FROM dataset_files WHERE dataset_uid = $1 AND name = ANY($2::text[])
    ) AS names,
    EXISTS (
        SELECT 1 FROM unnest($3::uuid[], $4::text[]) AS sent (storage_id, path)
        JOIN replicas r ON r.storage_id = sent.storage_id AND r.path = sent.path
            AND r.state <> '{replica.DELETED}'
    ) AS places
""")

SELECT_FILES_BY_NAME = """
-- Files of these names, with every place where each has been.
SELECT d.name, d.seq, f.size, f.checksum, array_agg(r.storage_id) AS storages,
    array_agg(r.path) AS paths
FROM dataset_files d JOIN files f ON f.id = d.file_id JOIN replicas r ON r.file_id = f.id
WHERE d.dataset_uid = $1 AND d.name = ANY($2::text[])
GROUP BY d.name, d.seq, f.size, f.checksum
"""

_SELECT_AT_PLACES = statement("""
-- Lock files that are already at these places until the transaction ends. The order by replica is
-- that of deletions.
SELECT r.storage_id, r.path, r.file_id, r.state, f.size, f.checksum
FROM unnest($1::uuid[], $2::text[]) AS sent (storage_id, path)
JOIN replicas r ON r.storage_id = sent.storage_id AND r.path = sent.path
    AND r.state <> '{replica.DELETED}'
JOIN files f ON f.id = r.file_id
ORDER BY r.id FOR SHARE OF r
""")

#: The files to insert, from the columns of ``_list_columns``.
_SUBMITTED_FILES = """given AS MATERIALIZED (
    SELECT * FROM unnest(
        $2::text[], $3::bigint[], $4::bigint[], $5::bytea[],
        $6::uuid[], $7::text[], $8::jsonb[], $9::jsonb[]
    ) AS t (name, seq, size, checksum, storage_id, path, meta, origin)
)"""

#: The insertion of the rows in ``sent`` into the table ``files``.
_INSERT_FILE_ROWS = """made AS (
    INSERT INTO files (id, size, checksum, meta, origin)
    SELECT id, size, checksum, meta, origin FROM sent
)"""

INSERT_FILES = f"""
-- Insert files, replicas, entries of the data set and storage usage in one statement. The order by
-- place prevents deadlocks with other registrations at the same places. If $11 demands unique
-- numbers and one is taken, nothing is inserted.
WITH {_SUBMITTED_FILES},
taken AS MATERIALIZED (
    SELECT FROM given
    -- One lookup for each number: a join might read all files of the data set.
    CROSS JOIN LATERAL (
        SELECT FROM dataset_files WHERE dataset_uid = $1 AND seq = given.seq LIMIT 1
    ) AS other
    WHERE $11::boolean LIMIT 1
),
sent AS MATERIALIZED (
    SELECT nextval('files_id_seq') AS id, given.* FROM given WHERE NOT EXISTS (SELECT FROM taken)
    ORDER BY storage_id, path
),
{_INSERT_FILE_ROWS},
copies AS (
    INSERT INTO replicas (file_id, storage_id, path, state)
    SELECT id, storage_id, path, $10 FROM sent
),
used AS (
    INSERT INTO storage_usage (storage_id, bytes)
    SELECT storage_id, least(sum(size), 9223372036854775807) FROM sent GROUP BY storage_id
)
INSERT INTO dataset_files (dataset_uid, name, seq, file_id) SELECT $1, name, seq, id FROM sent
"""

SELECT_AT_NUMBER = """
-- The first of these numbers that is taken, and the name of its file.
SELECT given.seq, other.name FROM unnest($2::bigint[]) AS given (seq)
CROSS JOIN LATERAL (
    SELECT name FROM dataset_files WHERE dataset_uid = $1 AND seq = given.seq LIMIT 1
) AS other
LIMIT 1
"""

_SELECT_RANGE = """
SELECT min(seq) AS first, max(seq) AS last FROM dataset_files WHERE dataset_uid = $1
"""

_SELECT_GAPS = """
-- Ranges of unused numbers between the lowest and the highest number.
SELECT before + 1 AS first, seq - 1 AS last FROM (
    SELECT seq, lag(seq) OVER (ORDER BY seq) AS before FROM dataset_files WHERE dataset_uid = $1
) AS numbered
WHERE seq > before + 1 ORDER BY seq LIMIT $2
"""

_INSERT_RELEASED = statement(f"""
-- Files that were released in another data set, and so in this one, too.
WITH {_SUBMITTED_FILES},
sent AS MATERIALIZED (SELECT nextval('files_id_seq') AS id, given.* FROM given),
{_INSERT_FILE_ROWS},
copies AS (
    INSERT INTO replicas (file_id, storage_id, path, state, deleted_at)
    SELECT id, storage_id, path, '{{replica.DELETED}}', now() FROM sent
),
counted AS (
    UPDATE datasets SET released = released + (SELECT count(*) FROM sent) WHERE uid = $1
)
INSERT INTO dataset_files (dataset_uid, name, seq, file_id, released_at)
SELECT $1, name, seq, id, statement_timestamp() FROM sent
""")

_LINK_FILES = """
-- Link files that belong to other data sets, too.
INSERT INTO dataset_files (dataset_uid, name, seq, file_id)
SELECT $1, * FROM unnest($2::text[], $3::bigint[], $4::bigint[])
"""

#: The columns of a listed file. Its replica is the latest available one, or the last deleted one.
_LISTED_COLUMNS = """d.name, d.seq, f.id, f.size, f.checksum, f.meta, f.origin,
    r.storage_id, r.path, d.released_at IS NOT NULL AS released"""


_JOIN_REPLICA = statement("""CROSS JOIN LATERAL (
    SELECT storage_id, path FROM replicas WHERE file_id = d.file_id
    ORDER BY state = '{replica.AVAILABLE}' DESC, id DESC LIMIT 1
) AS r""")

LIST_FILES = f"""
-- A page by seq, then name. $5 includes released files.
SELECT {_LISTED_COLUMNS}
FROM (
    SELECT name, seq, file_id, released_at FROM dataset_files
    WHERE dataset_uid = $1 AND (seq, name) > ($2, $3) AND (released_at IS NULL OR $5)
    ORDER BY seq, name LIMIT $4
) AS d
JOIN files f ON f.id = d.file_id
{_JOIN_REPLICA}
ORDER BY d.seq, d.name
"""

_HAS_NAME_CLASH = r"""
-- Return whether two files have the same tool-given name: the part of a name that
-- sluice/contracts/common/naming.py defines.
SELECT count(*) <> count(DISTINCT regexp_replace(
    name, '^(?:[0-9]{8}|[1-9][0-9]{8,})\.[0-9]+-(.+)$', '\1'
))
FROM dataset_files WHERE dataset_uid = $1
"""

#: The condition for one file of a data set.
_ONE_FILE = "WHERE d.file_id = $2 AND d.dataset_uid = $1 ORDER BY d.seq, d.name LIMIT 1"

_SELECT_FILE = f"""
SELECT {_LISTED_COLUMNS}
FROM dataset_files d JOIN files f ON f.id = d.file_id
{_JOIN_REPLICA}
{_ONE_FILE}
"""

_SELECT_FILE_COPIES = statement(f"""
-- The available replicas, the latest first.
SELECT d.name, f.size, f.checksum,
    ARRAY(
        SELECT r.storage_id FROM replicas r
        WHERE r.file_id = f.id AND r.state = '{{replica.AVAILABLE}}' ORDER BY r.id DESC
    ) AS storages,
    ARRAY(
        SELECT r.path FROM replicas r
        WHERE r.file_id = f.id AND r.state = '{{replica.AVAILABLE}}' ORDER BY r.id DESC
    ) AS paths
FROM dataset_files d JOIN files f ON f.id = d.file_id
{_ONE_FILE}
""")


@dataclass(frozen=True, slots=True)
class FileAt:
    """A file at a place that another registration names."""

    file_id: int
    state: ReplicaState
    size: int
    checksum: bytes


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file of a data set as a list shows it."""

    id: int
    name: str
    seq: int
    size: int
    checksum: bytes
    meta: dict[str, Any]
    origin: dict[str, Any] | None
    storage_id: UUID
    path: str
    released: bool


@dataclass(frozen=True, slots=True)
class FileReplicas:
    """A file with its available replicas.

    Attributes:
        name: Name of the file in the data set.
        size: Size in bytes.
        checksum: SHA-256 digest.
        replicas: Storage and path of each replica, the latest first.
    """

    name: str
    size: int
    checksum: bytes
    replicas: list[tuple[UUID, str]]


async def check_names_and_places(
    connection: Connection, uid: UUID, files: Sequence[SubmittedFile]
) -> tuple[bool, bool]:
    """Return whether the data set has any of the names, and whether any of the places is taken."""
    names, storages, paths = (
        [file.name for file in files],
        [file.storage_id for file in files],
        [file.path for file in files],
    )
    (row,) = await connection.fetch(CHECK_NAMES_AND_PLACES, uid, names, storages, paths)
    return row["names"], row["places"]


async def list_files_by_name(
    connection: Connection, uid: UUID, names: Sequence[str]
) -> dict[str, KnownFile]:
    """Return the files of a data set that have these names, by name."""
    rows = await connection.fetch(SELECT_FILES_BY_NAME, uid, names)
    return {
        row["name"]: KnownFile(
            name=row["name"],
            seq=row["seq"],
            size=row["size"],
            checksum=row["checksum"],
            places=frozenset(zip(row["storages"], row["paths"], strict=True)),
        )
        for row in rows
    }


async def lock_files_at(
    connection: Connection, places: Sequence[tuple[UUID, str]]
) -> dict[tuple[UUID, str], FileAt]:
    """Return the files that are at these places, and lock their replicas."""
    storages, paths = [place[0] for place in places], [place[1] for place in places]
    rows = await connection.fetch(_SELECT_AT_PLACES, storages, paths)
    return {
        (row["storage_id"], row["path"]): FileAt(
            row["file_id"], ReplicaState(row["state"]), row["size"], row["checksum"]
        )
        for row in rows
    }


async def insert_files(
    connection: Connection,
    uid: UUID,
    files: Sequence[SubmittedFile],
    *,
    state: ReplicaState,
    numbered: bool,
) -> bool:
    """Insert files into a data set whose row the caller has locked.

    Args:
        connection: A connection to the catalogue.
        uid: The data set.
        files: The files to insert.
        state: State of their replicas.
        numbered: Each file must have its own number.

    Returns:
        False, with nothing inserted, if ``numbered`` and another file has one of the numbers.

    Raises:
        PlaceRegisteredConcurrently: A concurrent request registers a file at the same place.
    """
    try:
        done = await connection.execute(INSERT_FILES, uid, *_list_columns(files), state, numbered)
    except asyncpg.UniqueViolationError as error:
        raise PlaceRegisteredConcurrently(error.detail) from error
    return not files or not done.endswith(" 0")


async def insert_released(
    connection: Connection, uid: UUID, files: Sequence[SubmittedFile]
) -> None:
    """Insert files as released; the data set is locked and each file has its own number."""
    await connection.execute(_INSERT_RELEASED, uid, *_list_columns(files))


def _list_columns(files: Sequence[SubmittedFile]) -> list[list[Any]]:
    return [
        [file.name for file in files],
        [file.seq for file in files],
        [file.size for file in files],
        [file.checksum for file in files],
        [file.storage_id for file in files],
        [file.path for file in files],
        [file.meta for file in files],
        [file.origin for file in files],
    ]


async def find_taken_number(
    connection: Connection, uid: UUID, seqs: Sequence[int]
) -> tuple[int, str] | None:
    """Return the first of these numbers that is taken, with the name of its file."""
    row = await connection.fetchrow(SELECT_AT_NUMBER, uid, seqs)
    return None if row is None else (row["seq"], row["name"])


async def get_used_numbers(connection: Connection, uid: UUID, *, gaps: int) -> UsedNumbers:
    """Return the range of numbers of all files, and at most ``gaps`` gaps in it."""
    ends = await connection.fetchrow(_SELECT_RANGE, uid)
    if ends is None or ends["first"] is None:
        return UsedNumbers()
    rows = await connection.fetch(_SELECT_GAPS, uid, gaps)
    return UsedNumbers((ends["first"], ends["last"]), [(row["first"], row["last"]) for row in rows])


async def link_files(
    connection: Connection, uid: UUID, files: Sequence[tuple[SubmittedFile, int]]
) -> None:
    """Add files of other data sets to a data set by reference."""
    names, seqs, ids = (
        [file.name for file, _ in files],
        [file.seq for file, _ in files],
        [file_id for _, file_id in files],
    )
    await connection.execute(_LINK_FILES, uid, names, seqs, ids)


async def select_files(
    connection: Connection, uid: UUID, after: tuple[int, str], *, limit: int, released: bool = False
) -> list[ListedFile]:
    """Return a page of files in order of number and name; ``released`` includes released files."""
    rows = await connection.fetch(LIST_FILES, uid, after[0], after[1], limit, released)
    return [ListedFile(**row) for row in rows]


async def find_file_replicas(
    connection: Connection, uid: UUID, file_id: int
) -> FileReplicas | None:
    """Return a file with its available replicas; None if the data set does not have it."""
    row = await connection.fetchrow(_SELECT_FILE_COPIES, uid, file_id)
    if row is None:
        return None
    return FileReplicas(
        row["name"],
        row["size"],
        row["checksum"],
        list(zip(row["storages"], row["paths"], strict=True)),
    )


async def find_file(connection: Connection, uid: UUID, file_id: int) -> ListedFile | None:
    """Return a file of a data set; None if the data set does not have it."""
    row = await connection.fetchrow(_SELECT_FILE, uid, file_id)
    return None if row is None else ListedFile(**row)


async def has_name_clash(connection: Connection, uid: UUID) -> bool:
    """Return whether two files of a data set have the same name apart from their prefix."""
    return bool(await connection.fetchval(_HAS_NAME_CLASH, uid))
