"""Principals: the people, services and pilots that requests come from."""

from dataclasses import dataclass
from uuid import UUID

from starlette.types import Scope

from sluice.contracts.access.access import Role
from sluice.contracts.access.owners import ALL, EVERYONE, Visibility, visibility
from sluice.contracts.access.services import CallingService

#: The key of the principal in the scope of a request. Network clients cannot set it.
_KEY = "sluice.principal"


@dataclass(frozen=True, slots=True)
class Person:
    """A person. The first of ``groups`` owns what the person creates.

    Everybody is also in the group ``EVERYONE``, which ``groups`` does not list.
    """

    name: str
    role: Role
    groups: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name} ({self.role})"

    @property
    def own_group(self) -> str:
        """Return the group that owns what the person creates."""
        return next(iter(self.groups), EVERYONE)

    @property
    def visibility(self) -> Visibility:
        """Return the visibility of the person."""
        return ALL if self.role is Role.ADMIN else visibility(self.groups)


@dataclass(frozen=True, slots=True)
class ServiceCaller:
    """A service.

    Attributes:
        behalf: The person for whom it acts. None means that it acts for itself.
        request: The uid of the person's request.
    """

    service: CallingService
    behalf: Person | None = None
    request: UUID | None = None

    def __str__(self) -> str:
        return f"the service {self.service}" + (f" for {self.behalf}" if self.behalf else "")


@dataclass(frozen=True, slots=True)
class PilotCaller:
    """A pilot.

    Attributes:
        uid: None until it has registered.
        site: The site whose token it used. None means that it used the token of the system.
    """

    uid: UUID | None = None
    site: UUID | None = None

    def __str__(self) -> str:
        return "a pilot that registers" if self.uid is None else f"pilot {self.uid}"


@dataclass(frozen=True, slots=True)
class ScraperCaller:
    """A client that reads metrics."""

    def __str__(self) -> str:
        return "what reads metrics"


@dataclass(frozen=True, slots=True)
class Unrestricted:
    """A principal that may do everything.

    It is this process itself, or everybody where authentication is off.
    """

    name: str

    def __str__(self) -> str:
        return self.name


Principal = Person | ServiceCaller | PilotCaller | ScraperCaller | Unrestricted

#: The principal of a process that calls a service which it runs itself.
THIS_PROCESS = Unrestricted("this process")
#: The principal of all requests where authentication is off.
ANYBODY = Unrestricted("anybody")


def find_principal(scope: Scope) -> Principal | None:
    """Return the principal of a request, or None if the request has none."""
    principal: Principal | None = scope.get(_KEY)
    return principal


def set_principal(scope: Scope, principal: Principal) -> None:
    """Set the principal of a request."""
    scope[_KEY] = principal


def find_person(principal: Principal | None) -> Person | None:
    """Return the person that a principal is or acts for, or None if there is none."""
    match principal:
        case Person():
            return principal
        case ServiceCaller(behalf=behalf):
            return behalf
        case _:
            return None


def get_visibility(principal: Principal | None) -> Visibility:
    """Return the visibility of a principal."""
    if (person := find_person(principal)) is not None:
        return person.visibility
    match principal:
        case ServiceCaller() | Unrestricted():
            return ALL
        case _:
            return Visibility(frozenset())
