"""Enforcement of route policies."""

from collections.abc import Mapping
from typing import Any, Protocol, assert_never

from starlette.types import ASGIApp, Receive, Scope, Send

from sluice.contracts.access.access import Role
from sluice.contracts.access.owners import Visibility
from sluice.contracts.common.problems import Forbidden, Unauthenticated
from sluice.servicekit.access.policy import Other, RoutePolicy
from sluice.servicekit.access.principal import (
    Person,
    PilotCaller,
    Principal,
    ScraperCaller,
    ServiceCaller,
    Unrestricted,
    find_principal,
    get_visibility,
)

_READS = frozenset({"GET", "HEAD"})


def require(
    route_policy: RoutePolicy, principal: Principal | None, path: Mapping[str, Any]
) -> None:
    """Check that a policy admits a principal.

    Args:
        route_policy: The policy of the route.
        principal: The principal of the request. None means that it has no credential.
        path: The path parameters of the request by name.

    Raises:
        Unauthenticated: The request has no credential, and the route needs one.
        Forbidden: The policy does not admit the principal.
    """
    if Other.EVERYBODY in route_policy.other_principals:
        return
    if Other.LINK in route_policy.other_principals and (
        principal is None or isinstance(principal, Person)
    ):
        return
    if principal is None:
        raise Unauthenticated(
            "the request does not say who sends it: it needs a token, as in"
            " 'Authorization: Bearer TOKEN' (the command has one after `sluice login`, takes"
            " SLUICE_TOKEN, and finds that of a system which this user runs here)"
        )
    if not _may(route_policy, principal, path):
        raise Forbidden(f"{principal} may not do this: {_needed(route_policy, principal)}")


def _needed(route_policy: RoutePolicy, principal: Principal) -> str:
    if isinstance(principal, Person) and route_policy.role is not None:
        return f"it requires the role {route_policy.role}"
    return f"it is for {route_policy}"


def only_own(route_policy: RoutePolicy, principal: Principal | None) -> bool:
    """Return whether the policy admits the principal only for objects that it owns.

    Call this after ``require``, which checks that the policy admits the principal.
    """
    return (
        isinstance(principal, Person)
        and route_policy.role is not None
        and not principal.role.includes(route_policy.role)
    )


def _may(route_policy: RoutePolicy, principal: Principal, path: Mapping[str, Any]) -> bool:
    match principal:
        case Unrestricted():
            return True
        case Person(role=role):
            min_role = Role.SUBMITTER if route_policy.own else route_policy.role
            return min_role is not None and role.includes(min_role)
        case ServiceCaller(service=service):
            return service in route_policy.services
        case PilotCaller(uid=None):
            return Other.ENROLLED in route_policy.other_principals
        case PilotCaller(uid=uid):
            return Other.PILOT in route_policy.other_principals and str(path.get("uid")) == str(uid)
        case ScraperCaller():
            return Other.SCRAPER in route_policy.other_principals
        case _:
            assert_never(principal)


class OwnersGuard(Protocol):
    """The check of a service whose objects belong to people and groups."""

    async def require(
        self, visibility: Visibility, address: str, path: Mapping[str, str], *, changes: bool
    ) -> None:
        """Check that a principal of limited visibility may access the object that a path names.

        The service's own "not found" error is raised for objects that the principal may not see.

        Args:
            visibility: The visibility of the principal.
            address: The path template of the route.
            path: The path parameters by name.
            changes: Whether the request changes the object.

        Raises:
            Forbidden: The principal may see the object but not change it.
        """
        ...


class GuardedRoute:
    """ASGI application of one route that enforces the route's policy."""

    def __init__(
        self, app: ASGIApp, route_policy: RoutePolicy, address: str, owners: OwnersGuard | None
    ) -> None:
        """Protect the application of a route.

        Args:
            app: The ASGI application of the route.
            route_policy: The policy of the route.
            address: The path template of the route.
            owners: Checks the ownership of objects. None means that the objects of the service
                have no owners.
        """
        if route_policy.own:
            raise TypeError(f"no owner lookup is defined for {address}")
        self._app = app
        self._route_policy = route_policy
        self._address = address
        self._owners = owners if "{" in address else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check the policy and the owners, and pass the request on."""
        principal, path = find_principal(scope), scope.get("path_params", {})
        require(self._route_policy, principal, path)
        if self._owners is not None:
            visibility = get_visibility(principal)
            if visibility.groups is not None and not isinstance(principal, PilotCaller):
                changes = scope["method"] not in _READS
                await self._owners.require(visibility, self._address, path, changes=changes)
        await self._app(scope, receive, send)
