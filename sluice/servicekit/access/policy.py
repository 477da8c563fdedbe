"""Policies of routes: who may call them.

Every route declares its policy. An application with a route without a policy is not built.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from sluice.contracts.access.access import Role
from sluice.contracts.access.services import CallingService

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

#: How a policy is written that admits submitters to their own objects.
OWN = f"{Role.SUBMITTER}:own"

#: The attribute of a view that holds its policy.
_MARK = "__sluice_access__"


class Other(StrEnum):
    """Callers that are neither people nor services.

    ``PILOT`` is the pilot that the path names. ``ENROLLED`` is a pilot that may register.
    ``SCRAPER`` reads metrics only. ``LINK`` is a browser with a link to a step; the route itself
    checks the link.
    """

    EVERYBODY = "everybody"
    PILOT = "pilot:itself"
    ENROLLED = "pilot:enrolled"
    SCRAPER = "scraper"
    LINK = "link:STEP"


Who = Role | CallingService | Other


@dataclass(frozen=True, slots=True)
class RoutePolicy:
    """The principals that may call a route.

    Attributes:
        role: The lowest role that a person needs. None admits no person.
        own: Whether submitters may call it for their own objects.
        gateway: The policy for people at the operator service, which forwards their requests to the
            route. None means that it does not forward requests.
    """

    role: Role | None = None
    own: bool = False
    services: frozenset[CallingService] = frozenset()
    other_principals: frozenset[Other] = frozenset()
    gateway: "RoutePolicy | None" = None

    def __str__(self) -> str:
        """Return the policy as the table of all routes shows it."""
        people = [] if self.role is None else [self.role.value]
        people += [OWN] if self.own else []
        services = sorted(f"service:{service}" for service in self.services)
        return ", ".join([*people, *services, *sorted(self.other_principals)])


class MissingPolicy(TypeError):
    """A programming error: a route does not declare a policy."""

    def __init__(self, route: str) -> None:
        super().__init__(f"{route} declares no access policy: put allow(…) before its view")


def policy(*who: Who, own: bool = False, gateway: RoutePolicy | None = None) -> RoutePolicy:
    """Return the policy that admits the given roles, services and other callers.

    Args:
        *who: At most one role, which includes higher roles, and any services and other callers.
        own: Whether submitters are admitted to their own objects, too.
        gateway: The people whose requests the operator service forwards to the route.

    Raises:
        TypeError: No principal is admitted, two roles are given, ``own`` adds nothing to the role,
            or ``gateway`` is given but the operator service is not admitted.
    """
    roles = [each for each in who if isinstance(each, Role)]
    if not who or len(roles) > 1:
        raise TypeError(f"a policy names at least one principal and at most one role: {who}")
    if own and any(Role.SUBMITTER.includes(each) for each in roles):
        raise TypeError(f"'own' adds nothing to a role that submitters have: {who}")
    if gateway is not None and CallingService.OPERATOR not in who:
        raise TypeError(f"'gateway' requires that the policy admits the operator service: {who}")
    return RoutePolicy(
        next(iter(roles), None),
        own,
        frozenset(each for each in who if isinstance(each, CallingService)),
        frozenset(each for each in who if isinstance(each, Other)),
        gateway,
    )


#: The most frequent policies for people.
VIEWERS, SUBMITTERS = policy(Role.VIEWER), policy(Role.SUBMITTER)
SHIFT, ADMINS = policy(Role.SHIFT), policy(Role.ADMIN)
#: The owner of the object in the path may use the route, too.
SHIFT_OR_OWNER = policy(Role.SHIFT, own=True)


def allow(*who: Who, gateway: RoutePolicy | None = None) -> Callable[[FunctionT], FunctionT]:
    """Declare who may call the decorated view, as in ``policy``."""
    return under(policy(*who, gateway=gateway))


def under(route_policy: RoutePolicy) -> Callable[[FunctionT], FunctionT]:
    """Declare the policy of the decorated view."""

    def mark(view: FunctionT) -> FunctionT:
        setattr(view, _MARK, route_policy)
        return view

    return mark


def get_policy(view: Callable[..., Any], *, route: str) -> RoutePolicy:
    """Return the policy of a view.

    Raises:
        MissingPolicy: The view of ``route`` declares no policy.
    """
    declared: RoutePolicy | None = getattr(view, _MARK, None)
    if declared is None:
        raise MissingPolicy(route)
    return declared
