"""Permission to store and remove versions of assets and tools: the owner of the name has it."""

from sluice.contracts.access.access import Role
from sluice.contracts.access.owners import EVERYONE
from sluice.contracts.common.problems import Forbidden
from sluice.servicekit.access.delegation import current_person
from sluice.servicekit.access.ownership import Ownership, ownership
from sluice.servicekit.database import Connection
from sluice.text.visible_text import quoted
from wfms.operator.identity.db.name_owners import NamedKind, find_name_owner, take_name
from wfms.operator.identity.usecases.known_groups import groups_exist


class NameOwnedByOthers(Forbidden):
    """The name belongs to somebody else."""

    def __init__(self, kind: NamedKind, name: str, current: Ownership) -> None:
        everyone = current.group == EVERYONE
        owner = f"{current.owner} of" if current.owner else "the group"
        needed = f"the role {Role.SHIFT}" if everyone else "a member of that group"
        super().__init__(
            f"{kind} {quoted(name)} belongs to {owner} {current.group}: changing it needs {needed};"
            " choose another name",
            name=name,
        )


async def require_name(connection: Connection, kind: NamedKind, name: str) -> Ownership:
    """Return the owner of the name if the principal may change what is stored under it.

    If groups exist, only the owner and the role shift may change names of the group ``everyone``.
    Other groups use what one group stores under such a name.

    Raises:
        NameOwnedByOthers: The principal may not change it.
    """
    current = await find_name_owner(connection, kind, name) or Ownership()
    person = current_person()
    if person is None:
        return current
    if not person.visibility.is_member(current.group):
        raise NameOwnedByOthers(kind, name, current)
    trusted = person.role.includes(Role.SHIFT) or current.owner == person.name
    if current.group == EVERYONE and not trusted and await groups_exist(connection):
        raise NameOwnedByOthers(kind, name, current)
    return current


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
        NameOwnedByOthers: The principal may not change it.
        Forbidden: The principal is not in the group, or the name belongs to another group.
    """
    if new:
        await take_name(
            connection, kind, name, ownership(current_person(), owner=None, group=group)
        )
    current = await require_name(connection, kind, name)
    if group not in {None, current.group}:
        raise Forbidden(
            f"{kind} {quoted(name)} belongs to the group {current.group}, not to {group}"
        )
