"""The table ``secrets`` and its statements. The values cannot be read without the key."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sluice.servicekit.database import Connection

_LOCK_NAME = """
-- Only one transaction at a time stores a version of this secret.
SELECT pg_advisory_xact_lock(hashtextextended('secret ' || $1, 0))
"""

_SELECT_LAST_VERSION = "SELECT coalesce(max(version), 0) FROM secrets WHERE name = $1"

_INSERT_VERSION = (
    "INSERT INTO secrets (name, version, sealed, templates, owner_group)"
    " VALUES ($1, $2, $3, $4, $5)"
)

_SELECT_EXISTING = (
    "SELECT name, version, sealed, templates, owner_group, created_at FROM secrets"
    " WHERE sealed IS NOT NULL"
)

_SELECT_ALL = f"{_SELECT_EXISTING} ORDER BY name, version DESC"

_SELECT_NAMED = f"{_SELECT_EXISTING} AND name = $1 ORDER BY version DESC"

_SELECT_VERSION = f"{_SELECT_EXISTING} AND name = $1 AND version = $2"

_REMOVE = """
-- Remove all versions, or only $2. The value is deleted, and its number is not used again.
UPDATE secrets SET sealed = NULL, removed_at = now()
WHERE name = $1 AND ($2::integer IS NULL OR version = $2) AND sealed IS NOT NULL
RETURNING version
"""

_RESEAL = """
-- Skip a version that was removed or encrypted again meanwhile.
UPDATE secrets SET sealed = $4 WHERE name = $1 AND version = $2 AND sealed = $3
"""


@dataclass(frozen=True, slots=True)
class SecretUsers:
    """The templates that may use a version: those of a group whose names match patterns."""

    templates: Sequence[str]
    group: str


@dataclass(frozen=True, slots=True)
class StoredSecret:
    """One version of a secret, encrypted."""

    name: str
    version: int
    sealed: bytes
    templates: list[str]
    owner_group: str
    created_at: datetime


async def lock_secret(connection: Connection, name: str) -> None:
    """Lock a secret until the transaction ends."""
    await connection.execute(_LOCK_NAME, name)


async def get_last_version(connection: Connection, name: str) -> int:
    """Return the last version number, removed versions included; 0 if there was none."""
    return int(await connection.fetchval(_SELECT_LAST_VERSION, name) or 0)


async def insert_secret(
    connection: Connection, name: str, *, version: int, sealed_value: bytes, users: SecretUsers
) -> None:
    """Store a version of a secret."""
    await connection.execute(
        _INSERT_VERSION, name, version, sealed_value, list(users.templates), users.group
    )


async def list_all_versions(connection: Connection) -> list[StoredSecret]:
    """Return all versions, by name, the newest version of each secret first."""
    return [StoredSecret(**row) for row in await connection.fetch(_SELECT_ALL)]


async def list_versions(connection: Connection, name: str) -> list[StoredSecret]:
    """Return the versions of a secret, the newest first."""
    return [StoredSecret(**row) for row in await connection.fetch(_SELECT_NAMED, name)]


async def find_version(connection: Connection, name: str, version: int) -> StoredSecret | None:
    """Return a version that has not been removed; None if there is none."""
    row = await connection.fetchrow(_SELECT_VERSION, name, version)
    return None if row is None else StoredSecret(**row)


async def mark_removed(
    connection: Connection, name: str, *, version: int | None = None
) -> list[int]:
    """Remove one version, or with None all versions; return the numbers of those removed."""
    return [int(row["version"]) for row in await connection.fetch(_REMOVE, name, version)]


async def reseal(connection: Connection, secret: StoredSecret, sealed_value: bytes) -> None:
    """Replace the encrypted value, unless it was removed or replaced in the meantime."""
    await connection.execute(_RESEAL, secret.name, secret.version, secret.sealed, sealed_value)
