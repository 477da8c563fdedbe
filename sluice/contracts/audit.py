"""Who did what: what each service notes of people's requests that change something."""

from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import Field

from sluice.contracts.base import Contract, Timestamp


class AuditKind(StrEnum):
    """``BEGUN``: a request has come; its row is there before anything is done. ``CHANGED``: a
    transaction of it has committed, with this row. ``ENDED``: it was answered. ``TOLD``: what is
    no request of a person who is known, as a sign-in."""

    BEGUN = "begun"
    CHANGED = "changed"
    ENDED = "ended"
    TOLD = "told"


#: What an entry begins with.
FIRST = (AuditKind.BEGUN, AuditKind.TOLD)


class AuditRow(Contract):
    """As a service keeps it. ``action``: method and address, or in words. ``remote``: the address
    that the request came from. ``outcome``: its HTTP status. ``facts``: what came of it."""

    id: int
    at: Timestamp
    request: UUID
    kind: AuditKind
    who: str
    role: str
    action: str
    remote: str
    outcome: int | None = None
    facts: dict[str, str] = Field(default_factory=dict)


#: Uid or name of what was acted on.
ObjectName = Annotated[str, Field(max_length=240)]


class AuditFilter(Contract):
    """``what``: stands in the action, as `POST /api/v1/chains`. ``object``: uid or name of what was
    acted on. ``after``: the ``after`` of the page before."""

    who: Annotated[str, Field(max_length=200)] | None = None
    what: Annotated[str, Field(max_length=200)] | None = None
    object: ObjectName | None = None
    since: Timestamp | None = None
    until: Timestamp | None = None
    after: str | None = None
    limit: Annotated[int, Field(ge=1, le=1000)] = 100


class AuditSearch(AuditFilter):
    """``also``: what else the ``object`` is called."""

    also: Annotated[list[ObjectName], Field(max_length=100)] = Field(default_factory=list)

    @property
    def names(self) -> list[str] | None:
        """None: of any object."""
        return None if self.object is None else [self.object, *self.also]


class AuditRows(Contract):
    rows: list[AuditRow]


class AuditEntry(Contract):
    """A request, with all that the services have noted of it. ``outcome``: None: it was not
    answered, as the service ended meanwhile. ``changed``: services where something was committed
    for it."""

    request: UUID
    at: Timestamp
    who: str
    role: str
    action: str
    remote: str
    outcome: int | None = None
    changed: list[str] = Field(default_factory=list)
    facts: dict[str, str] = Field(default_factory=dict)

    def news(self) -> list[str]:
        """The facts that the action does not say, in words."""
        return [
            f"{name} {fact}"
            for name, fact in sorted(self.facts.items())
            if fact not in self.action.split("/")
        ]


class AuditPage(Contract):
    """The newest first. ``after``: where the next page begins; None on the last."""

    entries: list[AuditEntry]
    after: str | None = None


class AuditVerdict(Contract):
    """Of one service's rows: whether they are those that were chained. ``head``: digest of the
    last one, to be compared with one that was kept elsewhere. ``wrong``: the first that is not as
    it was; empty: none. ``unchained``: rows that are to be chained yet; ``forgotten``: that were
    older than they are kept."""

    service: str
    rows: int
    unchained: int
    forgotten: int
    head: str
    wrong: Annotated[str, Field(description="In a sentence.")] = ""


class AuditVerdicts(Contract):
    services: list[AuditVerdict]
