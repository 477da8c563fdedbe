"""The table ``template_owners`` and its statements: who owns the names of templates."""

from collections.abc import Sequence
from dataclasses import dataclass

from sluice.servicekit.access.ownership import Ownership
from sluice.servicekit.database import Connection

_SELECT_OWNER = "SELECT owner, owner_group, shared_with FROM template_owners WHERE name = $1"

_TAKE_TEMPLATE = """
-- The first person who publishes under the name becomes the owner.
INSERT INTO template_owners (name, owner, owner_group) VALUES ($1, $2, $3)
ON CONFLICT (name) DO NOTHING
"""

_SHARE_TEMPLATE = """
INSERT INTO template_owners (name, owner_group, shared_with) VALUES ($1, $2, $3)
ON CONFLICT (name) DO UPDATE SET owner_group = $2, shared_with = $3
"""


@dataclass(frozen=True, slots=True)
class OwnedName:
    """The owner of a template name, and the groups that it is shared with."""

    ownership: Ownership
    shared_with: Sequence[str] = ()


async def find_owned_name(connection: Connection, name: str) -> OwnedName | None:
    """Return the owner of a template name; None if no owner is recorded."""
    row = await connection.fetchrow(_SELECT_OWNER, name)
    if row is None:
        return None
    return OwnedName(Ownership(row["owner"], row["owner_group"]), row["shared_with"])


async def take_name(connection: Connection, name: str, ownership: Ownership) -> None:
    """Record the owner of a template name, unless it has one."""
    await connection.execute(_TAKE_TEMPLATE, name, ownership.owner, ownership.group)


async def share_name(
    connection: Connection, name: str, *, group: str, shared_with: Sequence[str]
) -> None:
    """Set the group that owns a template name, and the groups that it is shared with."""
    await connection.execute(_SHARE_TEMPLATE, name, group, list(shared_with))
