"""Owner groups of tasks, jobs and chains."""

from typing import Any

from sluice.servicekit.database import Connection

#: Statements by the kind of object that an address names.
_SELECT_GROUP = {
    "task": "SELECT owner_group FROM tasks WHERE uid = $1",
    "chain": "SELECT owner_group FROM tasks WHERE chain_uid = $1 LIMIT 1",
    "job": """
SELECT owner_group FROM jobs JOIN tasks ON tasks.uid = jobs.task_uid WHERE jobs.id = $1
""",
}


async def find_group(connection: Connection, kind: str, key: Any) -> str | None:
    """Return the owner group of the object, or None if the object does not exist."""
    group: str | None = await connection.fetchval(_SELECT_GROUP[kind], key)
    return group
