"""Watermarks of storages, and the storages that have reached theirs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sluice.contracts.data.datasets import Watermarks
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement

_PUT_MARKS = """
-- Other watermarks reset the filling state.
INSERT INTO watermarks (storage_id, low, high) VALUES ($1, $2, $3)
ON CONFLICT (storage_id) DO UPDATE
SET low = EXCLUDED.low, high = EXCLUDED.high, filling_since = NULL
WHERE (watermarks.low, watermarks.high) <> (EXCLUDED.low, EXCLUDED.high)
"""

_DELETE_MARKS = "DELETE FROM watermarks WHERE storage_id = $1"

_SELECT_LEVELS = """
SELECT m.storage_id, m.low, m.high, m.filling_since, s.name, s.url, s.capacity,
    (
        SELECT least(coalesce(sum(u.bytes), 0), 9223372036854775807)::bigint FROM storage_usage u
        WHERE u.storage_id = s.id
    ) AS used
FROM watermarks m JOIN storages s ON s.id = m.storage_id
"""

_SET_FILLING = """
-- Guarded by the watermarks and the state that the decision was based on: only one instance reports
-- the change.
UPDATE watermarks SET filling_since = CASE WHEN $2 THEN now() END
WHERE storage_id = $1 AND (filling_since IS NOT NULL) <> $2 AND (low, high) = ($3, $4) RETURNING 1
"""

_SELECT_ON_STORAGE = statement("""
-- The data sets whose first file is on the storage, with one lookup for each.
SELECT given.uid FROM unnest($2::uuid[]) AS given (uid)
CROSS JOIN LATERAL (
    SELECT file_id FROM dataset_files WHERE dataset_uid = given.uid AND released_at IS NULL
    ORDER BY seq, name LIMIT 1
) AS first
WHERE EXISTS (
    SELECT FROM replicas
    WHERE file_id = first.file_id AND storage_id = $1 AND state = '{replica.AVAILABLE}'
)
""")


@dataclass(frozen=True, slots=True)
class Level:
    """The fill level of a storage with watermarks.

    ``filling_since`` is None if the storage is not filling.
    """

    storage_id: UUID
    name: str
    url: str
    capacity: int | None
    used: int
    marks: Watermarks
    filling_since: datetime | None


async def list_levels(connection: Connection) -> dict[UUID, Level]:
    """Return the fill levels of the storages that have watermarks, by storage."""
    return {
        row["storage_id"]: Level(
            row["storage_id"],
            row["name"],
            row["url"],
            row["capacity"],
            row["used"],
            Watermarks(low=row["low"], high=row["high"]),
            row["filling_since"],
        )
        for row in await connection.fetch(_SELECT_LEVELS)
    }


async def put_marks(connection: Connection, storage: UUID, marks: Watermarks) -> None:
    """Set the watermarks of a storage; new values reset its filling state."""
    await connection.execute(_PUT_MARKS, storage, marks.low, marks.high)


async def delete_marks(connection: Connection, storage: UUID) -> None:
    """Delete the watermarks of a storage."""
    await connection.execute(_DELETE_MARKS, storage)


async def set_filling(connection: Connection, level: Level, *, filling: bool) -> bool:
    """Set whether a storage is filling; return False if it was so, or its watermarks changed."""
    moved = await connection.fetchval(
        _SET_FILLING, level.storage_id, filling, level.marks.low, level.marks.high
    )
    return moved is not None


async def list_datasets_on_storage(
    connection: Connection, storage: UUID, uids: Sequence[UUID]
) -> list[UUID]:
    """Return those of the data sets whose first file is on the storage."""
    return [row["uid"] for row in await connection.fetch(_SELECT_ON_STORAGE, storage, uids)]
