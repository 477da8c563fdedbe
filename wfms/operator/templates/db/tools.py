"""The table ``tools`` and its statements."""

from typing import Any

from sluice.contracts.templates.tools import Tool
from sluice.servicekit.database import Connection

_LOCK_NAME = """
-- Only one transaction at a time stores a version of this tool.
SELECT pg_advisory_xact_lock(hashtextextended('tool ' || $1, 0))
"""

_COLUMNS = "name, version, text, ports, doc, created_at"

_SELECT_NEWEST = f"""
SELECT DISTINCT ON (name) {_COLUMNS} FROM tools WHERE removed_at IS NULL
ORDER BY name, version DESC
"""

_SELECT_NAMED = f"""
SELECT {_COLUMNS} FROM tools WHERE name = $1 AND removed_at IS NULL ORDER BY version DESC
"""

_INSERT_TOOL = f"""
-- Numbers of removed versions are not used again.
INSERT INTO tools (name, version, text, ports, doc)
SELECT $1, coalesce(max(version), 0) + 1, $2, $3, $4 FROM tools WHERE name = $1
RETURNING {_COLUMNS}
"""

_CHECK_EXISTS = "SELECT EXISTS (SELECT FROM tools WHERE name = $1)"

_REMOVE = """
-- Remove all versions, or only $2.
UPDATE tools SET removed_at = now()
WHERE name = $1 AND ($2::integer IS NULL OR version = $2) AND removed_at IS NULL
RETURNING version
"""


async def lock_tool(connection: Connection, name: str) -> None:
    """Lock a tool until the transaction ends."""
    await connection.execute(_LOCK_NAME, name)


async def list_newest_tools(connection: Connection) -> list[Tool]:
    """Return the newest version of each tool, by name, with its text."""
    return [_to_tool(row) for row in await connection.fetch(_SELECT_NEWEST)]


async def list_versions(connection: Connection, name: str) -> list[Tool]:
    """Return the versions of a tool, the newest first, with their texts."""
    return [_to_tool(row) for row in await connection.fetch(_SELECT_NAMED, name)]


async def insert_tool(
    connection: Connection, name: str, text: str, *, ports: dict[str, Any], doc: str
) -> Tool:
    """Store the next version of a tool; ``ports`` has its ``inputs`` and ``outputs``.

    The caller holds the lock of the tool.
    """
    return _to_tool(await connection.fetchrow(_INSERT_TOOL, name, text, ports, doc))


async def was_stored(connection: Connection, name: str) -> bool:
    """Return whether a version was ever stored, removed versions included."""
    return bool(await connection.fetchval(_CHECK_EXISTS, name))


async def mark_removed(connection: Connection, name: str, *, version: int | None) -> list[int]:
    """Remove one version, or with None all versions; return the numbers of those removed."""
    return [row["version"] for row in await connection.fetch(_REMOVE, name, version)]


def _to_tool(row: Any) -> Tool:
    return Tool(
        name=row["name"],
        version=row["version"],
        created_at=row["created_at"],
        doc=row["doc"],
        inputs=row["ports"]["inputs"],
        outputs=row["ports"]["outputs"],
        cwl=row["text"],
    )
