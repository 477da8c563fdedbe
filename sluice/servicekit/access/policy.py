"""Who may ask for a route: declared beside it, looked at before it runs.

Nothing may be asked for by default: an application with a route that does not say who may ask for
it is not made.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from sluice.contracts.access import CallingService, Role

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

#: How a policy says that submitters may, with what is their own.
OWN = f"{Role.SUBMITTER}:own"

#: Where a view has its policy.
_MARK = "__sluice_access__"


class Other(StrEnum):
    """Callers that are neither people nor services. ``PILOT``: the one that the address names;
    ``ENROLLED``: who may become a pilot; ``SCRAPER``: what reads metrics, and nothing else;
    ``LINK``: a browser that came by a link to the step, at which the route itself looks."""

    EVERYBODY = "everybody"
    PILOT = "pilot:itself"
    ENROLLED = "pilot:enrolled"
    SCRAPER = "scraper"
    LINK = "link:STEP"


Who = Role | CallingService | Other


@dataclass(frozen=True, slots=True)
class RoutePolicy:
    """``role``: the least that a person needs; None: no person may. ``own``: a submitter may, too,
    with what is his own."""

    role: Role | None = None
    own: bool = False
    services: frozenset[CallingService] = frozenset()
    others: frozenset[Other] = frozenset()

    def __str__(self) -> str:
        """As the table of all routes has it."""
        people = [] if self.role is None else [self.role.value]
        people += [OWN] if self.own else []
        services = sorted(f"service:{service}" for service in self.services)
        return ", ".join([*people, *services, *sorted(self.others)])


class NoPolicy(TypeError):
    """A program error: a route does not say who may ask for it."""

    def __init__(self, route: str) -> None:
        super().__init__(f"{route} does not say who may ask for it: put allow(…) before its view")


def policy(*who: Who, own: bool = False) -> RoutePolicy:
    """Of people with a role, or one that includes it; of services; of others. ``own``: and of
    submitters, with what is theirs. Raises ``TypeError`` for nobody, for two roles, and for ``own``
    with a role that lets all submitters."""
    roles = [each for each in who if isinstance(each, Role)]
    if not who or len(roles) > 1:
        raise TypeError(f"a policy names somebody, and one role at most: {who}")
    if own and any(Role.SUBMITTER.includes(each) for each in roles):
        raise TypeError(f"submitters may this with what is others', too: {who}")
    return RoutePolicy(
        next(iter(roles), None),
        own,
        frozenset(each for each in who if isinstance(each, CallingService)),
        frozenset(each for each in who if isinstance(each, Other)),
    )


def allow(*who: Who) -> Callable[[FunctionT], FunctionT]:
    """Lets them ask for what the view below answers; as of ``policy``."""
    return under(policy(*who))


def under(declared: RoutePolicy) -> Callable[[FunctionT], FunctionT]:
    def mark(view: FunctionT) -> FunctionT:
        setattr(view, _MARK, declared)
        return view

    return mark


def policy_of(view: Callable[..., Any], *, route: str) -> RoutePolicy:
    """Raises ``NoPolicy``, which names the ``route``."""
    found: RoutePolicy | None = getattr(view, _MARK, None)
    if found is None:
        raise NoPolicy(route)
    return found
