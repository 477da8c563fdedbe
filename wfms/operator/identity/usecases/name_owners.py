"""Permission to store and remove versions of assets and tools: the owner of the name has it."""

from sluice.contracts.access.access import Role
from sluice.contracts.access.owners import EVERYONE
from sluice.contracts.common.problems import Forbidden
from sluice.servicekit.access.delegation import person_asking
from sluice.servicekit.access.ownership import Ownership, ownership
from sluice.servicekit.database import Connection
from sluice.text.visible_text import quoted
from wfms.operator.identity.db.name_owners import NamedKind, owner_of_name, take_name
from wfms.operator.identity.usecases.known_groups import are_there_any


class NameTakenByOthers(Forbidden):
    """The name belongs to somebody else."""

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
    """Return the owner of the name if the principal may change what is stored under it.

    If groups exist, names of the group ``everyone`` may be changed only by their owner and by the
    role shift, because other groups use what one group stores there.

    Raises:
        NameTakenByOthers: The principal may not change it.
    """
    whose = await owner_of_name(connection, kind, name) or Ownership()
    person = person_asking()
    if person is None:
        return whose
    if not person.visibility.is_member(whose.group):
        raise NameTakenByOthers(kind, name, whose)
    trusted = person.role.includes(Role.SHIFT) or whose.owner == person.name
    if whose.group == EVERYONE and not trusted and await are_there_any(connection):
        raise NameTakenByOthers(kind, name, whose)
    return whose


async def take_or_require_name(
    connection: Connection, kind: NamedKind, name: str, *, new: bool, group: str | None
) -> None:
    """Assign a new name to the principal, or check their permission for an existing name.

    Args:
        connection: A connection in a transaction that has the lock of the name.
        kind: The kind of object that the name is for.
        name: The name.
        new: Whether nothing has been stored under the name.
        group: The group that is to own the name; None for a group of the principal.

    Raises:
        NameTakenByOthers: The principal may not change it.
        Forbidden: The principal is not in the group, or the name belongs to another group.
    """
    if new:
        await take_name(connection, kind, name, ownership(person_asking(), owner=None, group=group))
    whose = await require_name(connection, kind, name)
    if group not in {None, whose.group}:
        raise Forbidden(f"{kind} {quoted(name)} belongs to the group {whose.group}, not to {group}")
