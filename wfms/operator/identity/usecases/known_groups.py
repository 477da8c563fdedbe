"""The groups that exist: those with at least one member."""

from collections.abc import Iterable

from sluice.contracts.access.owners import EVERYONE
from sluice.contracts.common.problems import Unprocessable
from sluice.servicekit.database import Connection
from sluice.text.visible_text import quoted
from wfms.operator.identity.db.people import list_people


class UnknownGroup(Unprocessable):
    """A group that has no members, so no user could see the object."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"no account is in a group {quoted(name)}: nothing was changed (an administrator sets"
            " the groups of people with `sluice user groups`)",
            group=name,
        )


async def groups_exist(connection: Connection) -> bool:
    """Return whether there is a group besides the one that contains everybody."""
    return any(person.groups for person in await list_people(connection))


async def require_known_groups(connection: Connection, groups: Iterable[str]) -> None:
    """Check that each group has members.

    Raises:
        UnknownGroup: A group has no members.
    """
    existing_groups = {EVERYONE}.union(*(person.groups for person in await list_people(connection)))
    for name in groups:
        if name not in existing_groups:
            raise UnknownGroup(name)
