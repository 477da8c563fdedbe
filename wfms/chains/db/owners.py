"""SQL on the groups that own chains and tasks."""

from uuid import UUID

from sluice.servicekit.database import Connection

GROUP_OF_CHAIN = "SELECT owner_group FROM chains WHERE uid = $1"

GROUP_OF_TASK = """
SELECT owner_group FROM chains JOIN steps ON steps.chain_uid = chains.uid WHERE task_uid = $1
"""


async def group_of_chain(connection: Connection, uid: UUID) -> str | None:
    """Return the group that owns the chain, or None if there is no such chain."""
    found: str | None = await connection.fetchval(GROUP_OF_CHAIN, uid)
    return found


async def group_of_task(connection: Connection, uid: UUID) -> str | None:
    """Return the group that owns the task's chain, or None if there is no such task."""
    found: str | None = await connection.fetchval(GROUP_OF_TASK, uid)
    return found
