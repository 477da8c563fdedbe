"""The table ``name_owners`` and its statements: who owns the names of assets and tools."""

from enum import StrEnum

from sluice.servicekit.access.ownership import Ownership
from sluice.servicekit.database import Connection


class NamedKind(StrEnum):
    """The kind of object that has a name."""

    ASSET = "asset"
    TOOL = "tool"


_SELECT_OWNER = "SELECT owner, owner_group FROM name_owners WHERE kind = $1 AND name = $2"

_TAKE_NAME = """
INSERT INTO name_owners (kind, name, owner, owner_group) VALUES ($1, $2, $3, $4)
ON CONFLICT (kind, name) DO NOTHING
"""


async def find_name_owner(connection: Connection, kind: NamedKind, name: str) -> Ownership | None:
    """Return the owner of a name; None if no owner is recorded."""
    row = await connection.fetchrow(_SELECT_OWNER, kind, name)
    return None if row is None else Ownership(row["owner"], row["owner_group"])


async def take_name(
    connection: Connection, kind: NamedKind, name: str, ownership: Ownership
) -> None:
    """Record the owner of a name, unless it has one."""
    await connection.execute(_TAKE_NAME, kind, name, ownership.owner, ownership.group)
