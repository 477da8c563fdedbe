"""Statements on the space that is missing on storages."""

from datetime import timedelta
from uuid import UUID

from sluice.servicekit.database import Connection

_UPSERT = """
INSERT INTO space_needed (storage_id, needed) VALUES ($1, $2)
ON CONFLICT (storage_id) DO UPDATE SET needed = excluded.needed, told_at = now()
"""

_DELETE = "DELETE FROM space_needed WHERE storage_id = $1"

_SELECT = "SELECT storage_id, needed FROM space_needed WHERE told_at > now() - $1::interval"


async def upsert_missing_space(connection: Connection, storage: UUID, needed_bytes: int) -> None:
    """Record how many bytes work needs on a storage that lacks space."""
    await connection.execute(_UPSERT, storage, needed_bytes)


async def delete_missing_space(connection: Connection, storage: UUID) -> None:
    """Delete the record that a storage lacks space."""
    await connection.execute(_DELETE, storage)


async def list_missing_space(connection: Connection, *, age: timedelta) -> dict[UUID, int]:
    """Return the needed bytes by storage, as recorded within ``age``."""
    return {row["storage_id"]: row["needed"] for row in await connection.fetch(_SELECT, age)}
