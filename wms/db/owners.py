"""Whose tasks, jobs and chains are."""

from typing import Any

from sluice.servicekit.database import Connection

#: By what an address names.
GROUPS = {
    "task": "SELECT owner_group FROM tasks WHERE uid = $1",
    "chain": "SELECT owner_group FROM tasks WHERE chain_uid = $1 LIMIT 1",
    "job": """
SELECT owner_group FROM jobs JOIN tasks ON tasks.uid = jobs.task_uid WHERE jobs.id = $1
""",
}


async def group_of(connection: Connection, kind: str, key: Any) -> str | None:
    """None: there is none."""
    found: str | None = await connection.fetchval(GROUPS[kind], key)
    return found
