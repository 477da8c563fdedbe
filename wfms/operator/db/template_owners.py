"""The table ``template_owners`` and its statements: whose the names of templates are."""

from collections.abc import Sequence
from dataclasses import dataclass

from sluice.servicekit.access.ownership import Ownership
from sluice.servicekit.database import Connection

SELECT = "SELECT owner, owner_group, shared_with FROM template_owners WHERE name = $1"

TAKE = """
-- The first who publishes under the name.
INSERT INTO template_owners (name, owner, owner_group) VALUES ($1, $2, $3)
ON CONFLICT (name) DO NOTHING
"""

SHARE = """
INSERT INTO template_owners (name, owner_group, shared_with) VALUES ($1, $2, $3)
ON CONFLICT (name) DO UPDATE SET owner_group = $2, shared_with = $3
"""


@dataclass(frozen=True, slots=True)
class OwnedName:
    whose: Ownership
    shared_with: Sequence[str] = ()


async def owned_name(connection: Connection, name: str) -> OwnedName | None:
    """None: nobody has published under it, or before there were owners."""
    row = await connection.fetchrow(SELECT, name)
    if row is None:
        return None
    return OwnedName(Ownership(row["owner"], row["owner_group"]), row["shared_with"])


async def take_name(connection: Connection, name: str, whose: Ownership) -> None:
    await connection.execute(TAKE, name, whose.owner, whose.group)


async def share_name(
    connection: Connection, name: str, *, group: str, shared_with: Sequence[str]
) -> None:
    await connection.execute(SHARE, name, group, list(shared_with))
