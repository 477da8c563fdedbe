"""Where a principal and a policy meet: each route of an ASGI application behind its policy, and the
question itself for others."""

from collections.abc import Mapping
from typing import Any, Protocol, assert_never

from starlette.types import ASGIApp, Receive, Scope, Send

from sluice.contracts.access import Role
from sluice.contracts.owners import Sight
from sluice.contracts.problems import Forbidden, Unauthenticated
from sluice.servicekit.access.policy import Other, RoutePolicy
from sluice.servicekit.access.principal import (
    Person,
    PilotCaller,
    Principal,
    ScraperCaller,
    ServiceCaller,
    Unrestricted,
    principal_of,
    sight_of,
)

_READS = frozenset({"GET", "HEAD"})


def require(declared: RoutePolicy, principal: Principal | None, path: Mapping[str, Any]) -> None:
    """``path``: parts of the address by name. Raises ``Unauthenticated``, ``Forbidden``."""
    if Other.EVERYBODY in declared.others:
        return
    if Other.LINK in declared.others and (principal is None or isinstance(principal, Person)):
        return
    if principal is None:
        raise Unauthenticated(
            "the request does not say who sends it: it needs a token, as in"
            " 'Authorization: Bearer TOKEN' (the command has one after `sluice login`, takes"
            " SLUICE_TOKEN, and finds that of a system which this user runs here)"
        )
    if not _may(declared, principal, path):
        raise Forbidden(f"{principal} may not do this: {_needed(declared, principal)}")


def _needed(declared: RoutePolicy, principal: Principal) -> str:
    if isinstance(principal, Person) and declared.role is not None:
        return f"it takes the role {declared.role}"
    return f"it is for {declared}"


def only_own(declared: RoutePolicy, principal: Principal | None) -> bool:
    """Precondition: he may, as of ``require``. Is it with his own alone?"""
    return (
        isinstance(principal, Person)
        and declared.role is not None
        and not principal.role.includes(declared.role)
    )


def _may(declared: RoutePolicy, principal: Principal, path: Mapping[str, Any]) -> bool:
    match principal:
        case Unrestricted():
            return True
        case Person(role=role):
            least = Role.SUBMITTER if declared.own else declared.role
            return least is not None and role.includes(least)
        case ServiceCaller(service=service):
            return service in declared.services
        case PilotCaller(uid=None):
            return Other.ENROLLED in declared.others
        case PilotCaller(uid=uid):
            return Other.PILOT in declared.others and str(path.get("uid")) == str(uid)
        case ScraperCaller():
            return Other.SCRAPER in declared.others
        case _:
            assert_never(principal)


class OwnersGuard(Protocol):
    """Of a service whose objects are somebody's."""

    async def require(
        self, sight: Sight, address: str, path: Mapping[str, str], *, changes: bool
    ) -> None:
        """For whom ``sight`` is limited. ``address``: of the route, with the names of its parts;
        ``path``: what they are. ``changes``: the request is to change what it names. Raises what
        the service says of an object that is not there; ``Forbidden`` for what may be seen, and
        not changed."""
        ...


class GuardedRoute:
    """ASGI application of one route, behind its policy. ``address``: with the names of its parts.
    ``owners``: None: what its service has is nobody's."""

    def __init__(
        self, app: ASGIApp, declared: RoutePolicy, address: str, owners: OwnersGuard | None
    ) -> None:
        if declared.own:
            raise TypeError(f"nobody looks here whose it is that {address} names")
        self._app = app
        self._declared = declared
        self._address = address
        self._owners = owners if "{" in address else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        principal, path = principal_of(scope), scope.get("path_params", {})
        require(self._declared, principal, path)
        if self._owners is not None:
            sight = sight_of(principal)
            if sight.groups is not None and not isinstance(principal, PilotCaller):
                changes = scope["method"] not in _READS
                await self._owners.require(sight, self._address, path, changes=changes)
        await self._app(scope, receive, send)
