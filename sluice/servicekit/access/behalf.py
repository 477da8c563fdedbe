"""For whom a service asks another one: the person whose request it answers.

The service that people ask says so with each of its requests, and the other one shows it what that
person sees, and nothing else. Others ask for themselves: what they do is no person's request.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace

from pydantic import ValidationError
from starlette.datastructures import Headers
from starlette.types import Scope

from sluice.contracts.access import ON_BEHALF_HEADER, CallingService
from sluice.contracts.owners import ALL, Sight
from sluice.contracts.people import Asker
from sluice.contracts.problems import Unauthenticated
from sluice.servicekit.access.principal import Person, Principal, ServiceCaller

#: Who may ask for a person.
_CARRIES = frozenset({CallingService.OPERATOR})

#: Whose request is answered here.
_asking: ContextVar[Person | None] = ContextVar("sluice_asking", default=None)


@contextmanager
def asking(person: Person | None) -> Iterator[None]:
    """What is asked of other services meanwhile is asked for the ``person``; None: for nobody."""
    token = _asking.set(person)
    try:
        yield
    finally:
        _asking.reset(token)


def person_asking() -> Person | None:
    """Whose request is answered here; None: nobody's that is known."""
    return _asking.get()


def sight_now() -> Sight:
    """What whoever's request is answered here sees; all where it is nobody's."""
    person = _asking.get()
    return ALL if person is None else person.sight


def acting(caller: Principal) -> Principal:
    """``caller``: a service of this process that asks another one, now for whom it does."""
    if isinstance(caller, ServiceCaller) and caller.service in _CARRIES:
        return replace(caller, behalf=_asking.get())
    return caller


def header_of(service: str) -> str | None:
    """What a request of the ``service`` says over a network; None: it asks for itself."""
    person = _asking.get()
    if person is None or service not in _CARRIES:
        return None
    asker = Asker(name=person.name, role=person.role, groups=list(person.groups))
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
    return replace(principal, behalf=Person(asker.name, asker.role, tuple(asker.groups)))
