"""Owner and group of new objects."""

from dataclasses import dataclass

from sluice.contracts.access.owners import EVERYONE
from sluice.contracts.common.problems import Forbidden
from sluice.servicekit.access.principal import Person


@dataclass(frozen=True, slots=True)
class Ownership:
    """The owner and the group of an object. ``owner`` is None if no person is known."""

    owner: str | None = None
    group: str = EVERYONE


def ownership(by: Person | None, *, owner: str | None, group: str | None) -> Ownership:
    """Return the ownership of a new object.

    Args:
        by: The person who creates the object. None means that a service creates it for ``owner``.
        owner: The requested owner.
        group: The requested group.

    Raises:
        Forbidden: The person names another owner, or a group without being its member.
    """
    if by is None:
        return Ownership(owner, group or EVERYONE)
    if owner not in {None, by.name}:
        raise Forbidden(f"you are {by.name}: objects that you create are yours, not {owner}'s")
    if group is not None:
        require_member(by, group)
    return Ownership(by.name, group or by.own_group)


def require_member(by: Person, group: str) -> None:
    """Check that a person is a member of a group.

    Raises:
        Forbidden: The person is not a member.
    """
    if not by.visibility.is_member(group):
        yours = ", ".join([*by.groups, EVERYONE])
        raise Forbidden(f"you are not in the group {group} (you are in {yours})")
