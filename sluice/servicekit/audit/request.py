"""Whose request is answered here, and what came of it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from uuid import UUID

from sluice.servicekit.access.principal import Person
from sluice.visible_text import visible_line

#: Characters of a fact, and of an action, that are kept.
_MOST = 200
_MOST_OF_ACTION = 1000


@dataclass(frozen=True, slots=True)
class PersonRequest:
    """``uid``: the same in all services that work for it. ``action``: method and address here.
    ``remote``: the address that it came from. ``reads``: it is to change nothing. ``facts``: what
    came of it, as it is told meanwhile."""

    person: Person
    uid: UUID
    action: str = ""
    remote: str = ""
    reads: bool = True
    facts: dict[str, str] = field(default_factory=dict)


_current: ContextVar[PersonRequest | None] = ContextVar("sluice_person_request", default=None)


_remote: ContextVar[str] = ContextVar("sluice_remote", default="")


@contextmanager
def coming_from(address: str) -> Iterator[None]:
    """``address``: that the request has which is answered meanwhile."""
    token = _remote.set(address)
    try:
        yield
    finally:
        _remote.reset(token)


def remote_now() -> str:
    return _remote.get()


@contextmanager
def answering(request: PersonRequest | None) -> Iterator[None]:
    """What is done meanwhile is done for it; None: for nobody."""
    token = _current.set(request)
    try:
        yield
    finally:
        _current.reset(token)


def request_now() -> PersonRequest | None:
    """That which is answered here; None: what is done is done for nobody that is known."""
    return _current.get()


def tell(**facts: object) -> None:
    """Notes with the request of now what came of it. Never a secret."""
    request = _current.get()
    if request is not None:
        request.facts.update(in_words(facts))


def in_words(facts: Mapping[str, object]) -> dict[str, str]:
    """What is None is left out."""
    return {name: _line(str(value), _MOST) for name, value in facts.items() if value is not None}


def action_line(method: str, address: str) -> str:
    """A request in words, whatever characters its address has, and however its uids are written."""
    return _line(f"{method} {'/'.join(map(_plain, address.split('/')))}", _MOST_OF_ACTION)


def _plain(part: str) -> str:
    try:
        return str(UUID(part))
    except ValueError:
        return part


def _line(text: str, most: int) -> str:
    """As a database takes it: with neither NUL nor half of a character."""
    return visible_line(text[:most]).encode(errors="replace").decode()
