"""Whose something new is."""

from dataclasses import dataclass

from sluice.contracts.owners import EVERYONE
from sluice.contracts.problems import Forbidden
from sluice.servicekit.access.principal import Person


@dataclass(frozen=True, slots=True)
class Ownership:
    """``owner``: None: no person that is known."""

    owner: str | None = None
    group: str = EVERYONE


def ownership(by: Person | None, *, owner: str | None, group: str | None) -> Ownership:
    """``by``: the person who makes it; None: a service makes it for ``owner``. ``group``: that is
    asked for. Raises ``Forbidden``: a person gives things to nobody else, and to his own groups."""
    if by is None:
        return Ownership(owner, group or EVERYONE)
    if owner not in {None, by.name}:
        raise Forbidden(f"you are {by.name}: what you make is yours, not {owner}'s")
    if group is not None:
        require_member(by, group)
    return Ownership(by.name, group or by.own_group)


def require_member(by: Person, group: str) -> None:
    """Raises ``Forbidden``."""
    if not by.sight.is_member(group):
        yours = ", ".join([*by.groups, EVERYONE])
        raise Forbidden(f"you are not in the group {group} (you are in {yours})")
