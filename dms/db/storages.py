"""Storages, and the bytes on them."""

from collections.abc import Mapping
from uuid import UUID

from dms.domain.places import Root
from sluice.contracts.common.states import DatasetState, StorageType
from sluice.contracts.data.datasets import NewStorage, Storage
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement

_INSERT_STORAGE = """
INSERT INTO storages (id, name, type, url, capacity, read_only) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT DO NOTHING RETURNING id
"""

_WITH_USED = """
SELECT s.*, (
    SELECT least(coalesce(sum(u.bytes), 0), 9223372036854775807)::bigint FROM storage_usage u
    WHERE u.storage_id = s.id
) AS used FROM storages s
"""

_SELECT_SAME_STORAGE = f"""
-- The storage with this name, or else the one with this URL.
{_WITH_USED} WHERE name = $1 OR url = $2 ORDER BY name = $1 DESC LIMIT 1
"""

_SELECT_STORAGES = f"""
-- Storages with the bytes of their known files. $2 includes disabled ones.
{_WITH_USED} WHERE (enabled OR $2) AND ($1::text IS NULL OR type = $1) ORDER BY name
"""

_SELECT_STORAGE = f"{_WITH_USED} WHERE name = $1"

_LOCK_STORAGES = """
-- Storages are registered and enabled one at a time, because each is compared with all others.
-- Reading continues.
LOCK TABLE storages IN SHARE ROW EXCLUSIVE MODE
"""

_SET_ENABLED = "UPDATE storages SET enabled = $2 WHERE name = $1 AND enabled <> $2"

_SELECT_ROOTS = """
SELECT s.id, s.name, s.type, s.url, s.read_only, s.enabled, f.path AS lies_at
FROM storages s LEFT JOIN storage_folders f ON f.storage_id = s.id
"""

_SET_FOLDER = """
INSERT INTO storage_folders (storage_id, path)
VALUES ($1, $2) ON CONFLICT (storage_id) DO UPDATE SET path = excluded.path
"""

_NOTE_FOLDERS = """
-- Skip storages whose folder is known.
INSERT INTO storage_folders (storage_id, path)
SELECT * FROM unnest($1::uuid[], $2::text[]) ON CONFLICT DO NOTHING
"""

_INSERT_USAGE = """
-- Bytes added to each storage. Removed bytes are negative.
INSERT INTO storage_usage (storage_id, bytes) SELECT * FROM unnest($1::uuid[], $2::bigint[])
"""

_FOLD_USAGE = """
-- Replace many rows by one for each storage. Skip rows that another instance is adding up.
WITH taken AS (
    DELETE FROM storage_usage
    WHERE id IN (SELECT id FROM storage_usage ORDER BY id LIMIT 10000 FOR UPDATE SKIP LOCKED)
    RETURNING storage_id, bytes
)
INSERT INTO storage_usage (storage_id, bytes)
SELECT storage_id, least(sum(bytes), 9223372036854775807) FROM taken GROUP BY storage_id
"""

_COUNT_DATASETS = statement("""
-- Count by the storage of the data set's folder, or of its first file if it has no folder.
SELECT storage_id, count(*) AS datasets FROM (
    SELECT coalesce(
        (
            SELECT s.id FROM storages s WHERE starts_with(d.url, s.url || '/')
            ORDER BY length(s.url) DESC LIMIT 1
        ),
        (
            SELECT r.storage_id FROM dataset_files f
            JOIN replicas r ON r.file_id = f.file_id AND r.state = '{replica.AVAILABLE}'
            WHERE f.dataset_uid = d.uid ORDER BY f.seq, f.name LIMIT 1
        )
    ) AS storage_id
    FROM datasets d WHERE d.state = ANY($1::text[])
) AS lying WHERE storage_id IS NOT NULL GROUP BY storage_id
""")

_COUNT_USAGE = "SELECT count(*) FROM storage_usage"


async def insert_storage(connection: Connection, uid: UUID, new: NewStorage) -> bool:
    """Insert a storage; return False if its name or URL is taken."""
    inserted = await connection.fetchval(
        _INSERT_STORAGE, uid, new.name, new.type, new.url, new.capacity, new.read_only
    )
    return inserted is not None


async def find_same_storage(connection: Connection, new: NewStorage) -> Storage | None:
    """Return the storage of the same name, or else the one at the same URL; None if neither is."""
    row = await connection.fetchrow(_SELECT_SAME_STORAGE, new.name, new.url)
    return None if row is None else Storage(**row)


async def select_storages(
    connection: Connection, type_: StorageType | None, *, disabled: bool
) -> list[Storage]:
    """Return the enabled storages by name; ``disabled`` includes the disabled ones."""
    return [Storage(**row) for row in await connection.fetch(_SELECT_STORAGES, type_, disabled)]


async def find_storage(connection: Connection, name: str) -> Storage | None:
    """Return the storage of this name; None if it does not exist."""
    row = await connection.fetchrow(_SELECT_STORAGE, name)
    return None if row is None else Storage(**row)


async def set_folder(connection: Connection, uid: UUID, path: str | None) -> None:
    """Record the local folder of a storage; do nothing if ``path`` is None."""
    if path is not None:
        await connection.execute(_SET_FOLDER, uid, path)


async def note_folders(connection: Connection, paths: Mapping[UUID, str]) -> None:
    """Record the local folders of storages for which none is recorded yet."""
    if paths:
        await connection.execute(_NOTE_FOLDERS, list(paths.keys()), list(paths.values()))


async def lock_storages(connection: Connection) -> None:
    """Lock the storages, so that no other transaction creates, enables or disables one."""
    await connection.execute(_LOCK_STORAGES)


async def set_enabled(connection: Connection, name: str, *, enabled: bool) -> None:
    """Enable or disable a storage."""
    await connection.execute(_SET_ENABLED, name, enabled)


async def list_roots(connection: Connection) -> dict[UUID, Root]:
    """Return all storages as roots, by id.

    Disabled storages are included, because their files are still read and removed.
    """
    return {
        row["id"]: Root(**{**row, "type": StorageType(row["type"])})
        for row in await connection.fetch(_SELECT_ROOTS)
    }


async def add_usage(connection: Connection, change: Mapping[UUID, int]) -> None:
    """Record changes of the bytes on storages."""
    if change:
        await connection.execute(_INSERT_USAGE, list(change.keys()), list(change.values()))


async def count_datasets(connection: Connection) -> dict[UUID, int]:
    """Return the number of data sets on each storage, including those that are being deleted."""
    states = [state for state in DatasetState if state is not DatasetState.DELETED]
    rows = await connection.fetch(_COUNT_DATASETS, states)
    return {row["storage_id"]: row["datasets"] for row in rows}


async def fold_usage(connection: Connection, *, more_than: int) -> None:
    """Add up the recorded changes of usage if there are more than ``more_than`` rows."""
    if await connection.fetchval(_COUNT_USAGE) > more_than:
        await connection.execute(_FOLD_USAGE)
