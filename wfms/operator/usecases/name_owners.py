"""Decides who may store versions of assets and tools, and take them back: whoever owns the name."""

from sluice.contracts.access import Role
from sluice.contracts.owners import EVERYONE
from sluice.contracts.problems import Forbidden
from sluice.servicekit.access.behalf import person_asking
from sluice.servicekit.access.ownership import Ownership, ownership
from sluice.servicekit.database import Connection
from sluice.visible_text import quoted
from wfms.operator.db.name_owners import NamedKind, owner_of_name, take_name
from wfms.operator.usecases.known_groups import are_there_any


class NameOfOthers(Forbidden):
    def __init__(self, kind: NamedKind, name: str, whose: Ownership) -> None:
        everyone = whose.group == EVERYONE
        owner = f"{whose.owner} of" if whose.owner else "the group"
        needed = f"the role {Role.SHIFT}" if everyone else "a member of that group"
        super().__init__(
            f"{kind} {quoted(name)} belongs to {owner} {whose.group}: changing it needs {needed};"
            " choose another name",
            name=name,
        )


async def require_name(connection: Connection, kind: NamedKind, name: str) -> Ownership:
    """Return who owns the name, for a person who may change what is stored under it.

    Names of the group ``everyone`` are changed by their owner, and by people of role shift, where
    there are groups: what one group stores there, others use.

    Raises:
        NameOfOthers: The person who asks may not.
    """
    whose = await owner_of_name(connection, kind, name) or Ownership()
    person = person_asking()
    if person is None:
        return whose
    if not person.sight.is_member(whose.group):
        raise NameOfOthers(kind, name, whose)
    trusted = person.role.includes(Role.SHIFT) or whose.owner == person.name
    if whose.group == EVERYONE and not trusted and await are_there_any(connection):
        raise NameOfOthers(kind, name, whose)
    return whose


async def take_or_require_name(
    connection: Connection, kind: NamedKind, name: str, *, new: bool, group: str | None
) -> None:
    """Give a new name to the person who asks, and hold others to ``require_name``.

    Args:
        connection: Of a transaction that has the lock of the name.
        kind: What is stored under it.
        name: The name.
        new: Nothing has been stored under it.
        group: Whose it is to be; None: a group of the person.

    Raises:
        NameOfOthers: The person who asks may not.
        Forbidden: The person is not in the group, or the name belongs to another group.
    """
    if new:
        await take_name(connection, kind, name, ownership(person_asking(), owner=None, group=group))
    whose = await require_name(connection, kind, name)
    if group not in {None, whose.group}:
        raise Forbidden(f"{kind} {quoted(name)} belongs to the group {whose.group}, not to {group}")
