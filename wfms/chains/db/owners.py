"""SQL on the groups that own chains and tasks."""

from uuid import UUID

from sluice.servicekit.database import Connection

_SELECT_GROUP_OF_CHAIN = "SELECT owner_group FROM chains WHERE uid = $1"

_SELECT_GROUP_OF_TASK = """
SELECT owner_group FROM chains JOIN steps ON steps.chain_uid = chains.uid WHERE task_uid = $1
"""


async def find_chain_group(connection: Connection, uid: UUID) -> str | None:
    """Return the group that owns the chain, or None if there is no such chain."""
    group: str | None = await connection.fetchval(_SELECT_GROUP_OF_CHAIN, uid)
    return group


async def find_task_group(connection: Connection, uid: UUID) -> str | None:
    """Return the group that owns the task's chain, or None if there is no such task."""
    group: str | None = await connection.fetchval(_SELECT_GROUP_OF_TASK, uid)
    return group
