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
from sluice.servicekit.access.principal import Person, Principal, ServiceCaller, person_of
from sluice.servicekit.audit.request import PersonRequest, action_line, request_now

#: The services that may act for a person.
_CARRIES = frozenset({CallingService.OPERATOR})
_READS = frozenset({"GET", "HEAD", "OPTIONS"})


def address_of(scope: Scope) -> str:
    """Return the address of the client or of the proxy in front of this service."""
    address, _ = scope.get("client") or ("", 0)
    return str(address)


def request_of(principal: Principal | None, scope: Scope) -> PersonRequest | None:
    """Return the request of the person that ``principal`` is or acts for, or None."""
    person = person_of(principal)
    if person is None or scope["type"] != "http":
        return None
    given = principal.request if isinstance(principal, ServiceCaller) else None
    return PersonRequest(
        person,
        given or uuid4(),
        action=action_line(scope["method"], scope["path"]),
        remote=address_of(scope),
        reads=scope["method"] in _READS,
    )


def person_asking() -> Person | None:
    """Return the person whose request is being answered, or None if there is none."""
    request = request_now()
    return None if request is None else request.person


def current_visibility() -> Visibility:
    """Return the visibility of the current request: that of its person, or everything."""
    person = person_asking()
    return ALL if person is None else person.visibility


def acting(caller: Principal) -> Principal:
    """Return ``caller`` with the person and the request for which it acts now.

    A service that may not act for people, and any other principal, is returned unchanged.
    """
    request = request_now()
    if isinstance(caller, ServiceCaller) and caller.service in _CARRIES and request is not None:
        return replace(caller, behalf=request.person, request=request.uid)
    return caller


def header_of(service: str) -> str | None:
    """Return the delegation header that ``service`` sends now, or None if it acts for itself."""
    request = request_now()
    if request is None or service not in _CARRIES:
        return None
    person = request.person
    asker = OnBehalfOf(
        name=person.name, role=person.role, groups=list(person.groups), request=request.uid
    )
    return asker.model_dump_json(ensure_ascii=True)


def asked_for(principal: Principal | None, scope: Scope) -> Principal | None:
    """Return the principal of a network request with the person that its delegation header names.

    Raises:
        Unauthenticated: The header is unreadable, or the service may not act for people.
    """
    said = Headers(scope=scope).get(ON_BEHALF_HEADER)
    if said is None or not isinstance(principal, ServiceCaller):
        return principal
    if principal.service not in _CARRIES:
        raise Unauthenticated(f"{principal} asks for itself alone")
    try:
        asker = OnBehalfOf.model_validate_json(said)
    except ValidationError as error:
        raise Unauthenticated(f"{principal} does not say clearly for whom it asks") from error
    person = Person(asker.name, asker.role, tuple(asker.groups))
    return replace(principal, behalf=person, request=asker.request)
