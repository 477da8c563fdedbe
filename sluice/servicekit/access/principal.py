"""Whoever asks, as a credential or the process itself says."""

from dataclasses import dataclass
from uuid import UUID

from starlette.types import Scope

from sluice.contracts.access import CallingService, Role
from sluice.contracts.owners import ALL, EVERYONE, Sight, sight

#: Where a request's scope has its principal. What comes by a network cannot set it.
_KEY = "sluice.principal"


@dataclass(frozen=True, slots=True)
class Person:
    """``groups``: that he is in, beside ``EVERYONE``; the first is whose his things are."""

    name: str
    role: Role
    groups: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name} ({self.role})"

    @property
    def own_group(self) -> str:
        return next(iter(self.groups), EVERYONE)

    @property
    def sight(self) -> Sight:
        return ALL if self.role is Role.ADMIN else sight(self.groups)


@dataclass(frozen=True, slots=True)
class ServiceCaller:
    """``behalf``: the person for whom it asks; None: it asks for itself. ``request``: of his, which
    it answers."""

    service: CallingService
    behalf: Person | None = None
    request: UUID | None = None

    def __str__(self) -> str:
        return f"the service {self.service}" + (f" for {self.behalf}" if self.behalf else "")


@dataclass(frozen=True, slots=True)
class PilotCaller:
    """``uid``: of the one pilot that it may act as; None: it may become a pilot. ``site``: that it
    comes from; None: it has the token of the system."""

    uid: UUID | None = None
    site: UUID | None = None

    def __str__(self) -> str:
        return "a pilot that registers" if self.uid is None else f"pilot {self.uid}"


@dataclass(frozen=True, slots=True)
class ScraperCaller:
    def __str__(self) -> str:
        return "what reads metrics"


@dataclass(frozen=True, slots=True)
class Unrestricted:
    """Who may do everything: this process itself, or whoever reaches it where nobody has to say who
    he is."""

    name: str

    def __str__(self) -> str:
        return self.name


Principal = Person | ServiceCaller | PilotCaller | ScraperCaller | Unrestricted

#: A process that asks a service which it runs itself.
THIS_PROCESS = Unrestricted("this process")
#: Whoever asks where nobody has to say who he is.
ANYBODY = Unrestricted("anybody")


def principal_of(scope: Scope) -> Principal | None:
    """None: the request says of nobody that he sent it."""
    found: Principal | None = scope.get(_KEY)
    return found


def set_principal(scope: Scope, principal: Principal) -> None:
    scope[_KEY] = principal


def person_of(principal: Principal | None) -> Person | None:
    """Who asks, himself or by a service; None: no person that is known."""
    match principal:
        case Person():
            return principal
        case ServiceCaller(behalf=behalf):
            return behalf
        case _:
            return None


def sight_of(principal: Principal | None) -> Sight:
    """What whoever asks sees of what is a group's."""
    if (person := person_of(principal)) is not None:
        return person.sight
    match principal:
        case ServiceCaller() | Unrestricted():
            return ALL
        case _:
            return Sight(frozenset())
