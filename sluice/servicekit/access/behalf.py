"""For whom a service asks another one: the person whose request it answers.

The service that people ask says so with each of its requests, and the other one shows it what that
person sees, and nothing else. Others ask for themselves: what they do is no person's request.
"""

from dataclasses import replace
from uuid import uuid4

from pydantic import ValidationError
from starlette.datastructures import Headers
from starlette.types import Scope

from sluice.contracts.access import ON_BEHALF_HEADER, CallingService
from sluice.contracts.owners import ALL, Sight
from sluice.contracts.people import Asker
from sluice.contracts.problems import Unauthenticated
from sluice.servicekit.access.principal import Person, Principal, ServiceCaller, person_of
from sluice.servicekit.audit.request import PersonRequest, action_line, request_now

#: Who may ask for a person.
_CARRIES = frozenset({CallingService.OPERATOR})
_READS = frozenset({"GET", "HEAD", "OPTIONS"})


def address_of(scope: Scope) -> str:
    """That a request came from, or of the proxy before us."""
    address, _ = scope.get("client") or ("", 0)
    return str(address)


def request_of(principal: Principal | None, scope: Scope) -> PersonRequest | None:
    """What ``principal`` asks: as a person, or as a service for one. None: it is no person's."""
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
    """Whose request is answered here; None: nobody's that is known."""
    request = request_now()
    return None if request is None else request.person


def sight_now() -> Sight:
    """What whoever's request is answered here sees; all where it is nobody's."""
    person = person_asking()
    return ALL if person is None else person.sight


def acting(caller: Principal) -> Principal:
    """``caller``: a service of this process that asks another one, now for whom it does."""
    request = request_now()
    if isinstance(caller, ServiceCaller) and caller.service in _CARRIES and request is not None:
        return replace(caller, behalf=request.person, request=request.uid)
    return caller


def header_of(service: str) -> str | None:
    """What a request of the ``service`` says over a network; None: it asks for itself."""
    request = request_now()
    if request is None or service not in _CARRIES:
        return None
    person = request.person
    asker = Asker(
        name=person.name, role=person.role, groups=list(person.groups), request=request.uid
    )
    return asker.model_dump_json(ensure_ascii=True)


def asked_for(principal: Principal | None, scope: Scope) -> Principal | None:
    """The ``principal`` of a request that came by a network, with the person that it names. Raises
    ``Unauthenticated`` where that cannot be read."""
    said = Headers(scope=scope).get(ON_BEHALF_HEADER)
    if said is None or not isinstance(principal, ServiceCaller):
        return principal
    if principal.service not in _CARRIES:
        raise Unauthenticated(f"{principal} asks for itself alone")
    try:
        asker = Asker.model_validate_json(said)
    except ValidationError as error:
        raise Unauthenticated(f"{principal} does not say clearly for whom it asks") from error
    person = Person(asker.name, asker.role, tuple(asker.groups))
    return replace(principal, behalf=person, request=asker.request)
