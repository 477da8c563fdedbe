"""Delegation: the person for whom a service calls another service.

The operator service names the person in each of its requests. The called service then shows what
that person may see, and nothing else. Other services act only for themselves.
"""

from dataclasses import replace
from uuid import uuid4

from pydantic import ValidationError
from starlette.datastructures import Headers
from starlette.types import Scope

from sluice.contracts.access.access import ON_BEHALF_HEADER
from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.access.people import OnBehalfOf
from sluice.contracts.access.services import CallingService
from sluice.contracts.common.problems import Unauthenticated
from sluice.servicekit.access.principal import Person, Principal, ServiceCaller, find_person
from sluice.servicekit.audit.request import PersonRequest, action_line, current_request

#: The services that may act for a person.
_DELEGATING_SERVICES = frozenset({CallingService.OPERATOR})
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


def client_address(scope: Scope) -> str:
    """Return the address of the client or of the proxy in front of this service."""
    address, _ = scope.get("client") or ("", 0)
    return str(address)


def person_request(principal: Principal | None, scope: Scope) -> PersonRequest | None:
    """Return the request of the person that ``principal`` is or acts for, or None."""
    person = find_person(principal)
    if person is None or scope["type"] != "http":
        return None
    request_uid = principal.request if isinstance(principal, ServiceCaller) else None
    return PersonRequest(
        person,
        request_uid or uuid4(),
        action=action_line(scope["method"], scope["path"]),
        remote=client_address(scope),
        reads=scope["method"] in _SAFE_METHODS,
    )


def current_person() -> Person | None:
    """Return the person whose request is being answered, or None if there is none."""
    request = current_request()
    return None if request is None else request.person


def current_visibility() -> Visibility:
    """Return the visibility of the current request: that of its person, or everything."""
    person = current_person()
    return ALL if person is None else person.visibility


def add_delegation(caller: Principal) -> Principal:
    """Return ``caller`` with the person and the request for which it acts now.

    A service that may not act for people, and any other principal, is returned unchanged.
    """
    request = current_request()
    if (
        isinstance(caller, ServiceCaller)
        and caller.service in _DELEGATING_SERVICES
        and request is not None
    ):
        return replace(caller, behalf=request.person, request=request.uid)
    return caller


def delegation_header(service: str) -> str | None:
    """Return the delegation header that ``service`` sends now, or None if it acts for itself."""
    request = current_request()
    if request is None or service not in _DELEGATING_SERVICES:
        return None
    person = request.person
    delegation = OnBehalfOf(
        name=person.name, role=person.role, groups=list(person.groups), request=request.uid
    )
    return delegation.model_dump_json(ensure_ascii=True)


def apply_delegation(principal: Principal | None, scope: Scope) -> Principal | None:
    """Return the principal of a network request with the person that its delegation header names.

    Raises:
        Unauthenticated: The header is unreadable, or the service may not act for people.
    """
    header = Headers(scope=scope).get(ON_BEHALF_HEADER)
    if header is None or not isinstance(principal, ServiceCaller):
        return principal
    if principal.service not in _DELEGATING_SERVICES:
        raise Unauthenticated(f"{principal} may not act on behalf of others")
    try:
        delegation = OnBehalfOf.model_validate_json(header)
    except ValidationError as error:
        raise Unauthenticated(
            f"{principal} does not name one person on whose behalf it acts"
        ) from error
    person = Person(delegation.name, delegation.role, tuple(delegation.groups))
    return replace(principal, behalf=person, request=delegation.request)
