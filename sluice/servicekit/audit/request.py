"""The person's request that is being answered, and facts about its result."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from uuid import UUID

from sluice.servicekit.access.principal import Person
from sluice.text.visible_text import visible_line

#: The maximum number of characters of a fact and of an action.
_MAX_FACT = 200
_MAX_ACTION = 1000


@dataclass(frozen=True, slots=True)
class PersonRequest:
    """A request of a person.

    Attributes:
        person: The person.
        uid: The same in all services that work on the request.
        action: Method and path in this service.
        remote: The address that the request came from.
        reads: Whether the request changes nothing.
        facts: Facts about the result, collected while the request is answered.
    """

    person: Person
    uid: UUID
    action: str = ""
    remote: str = ""
    reads: bool = True
    facts: dict[str, str] = field(default_factory=dict)


_current: ContextVar[PersonRequest | None] = ContextVar("sluice_person_request", default=None)


_remote: ContextVar[str] = ContextVar("sluice_remote", default="")


@contextmanager
def bind_client_address(address: str) -> Iterator[None]:
    """Set the client's address of the request that is answered in the block."""
    token = _remote.set(address)
    try:
        yield
    finally:
        _remote.reset(token)


def current_address() -> str:
    """Return the client's address of the current request."""
    return _remote.get()


@contextmanager
def bind_request(request: PersonRequest | None) -> Iterator[None]:
    """Set the person's request for which the block works, or None if it works for no person."""
    token = _current.set(request)
    try:
        yield
    finally:
        _current.reset(token)


def current_request() -> PersonRequest | None:
    """Return the current request of a person, or None if there is none."""
    return _current.get()


def add_audit_facts(**facts: object) -> None:
    """Add facts about the result to the current request. Never pass a secret."""
    request = _current.get()
    if request is not None:
        request.facts.update(to_texts(facts))


def to_texts(facts: Mapping[str, object]) -> dict[str, str]:
    """Return the facts as text, without those that are None."""
    return {
        name: _line(str(value), _MAX_FACT) for name, value in facts.items() if value is not None
    }


def action_line(method: str, address: str) -> str:
    """Return a request as one printable line, with uids in their standard form."""
    return _line(f"{method} {'/'.join(map(_plain, address.split('/')))}", _MAX_ACTION)


def _plain(part: str) -> str:
    try:
        return str(UUID(part))
    except ValueError:
        return part


def _line(text: str, max_length: int) -> str:
    """Return one line that PostgreSQL can store: without NUL and without broken characters."""
    return visible_line(text[:max_length]).encode(errors="replace").decode()
