"""Audit log: the events that each service records for requests that change something."""

from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import Field

from sluice.contracts.common.base import Contract, Timestamp


class AuditKind(StrEnum):
    """The kind of an audit event.

    ``BEGUN``: a request arrived; the row exists before any work starts. ``CHANGED``: a transaction
    of the request committed, with this row. ``ENDED``: the request was answered. ``TOLD``: an event
    that is not a request of a known person, such as a sign-in.
    """

    BEGUN = "begun"
    CHANGED = "changed"
    ENDED = "ended"
    TOLD = "told"


#: What an entry begins with.
FIRST = (AuditKind.BEGUN, AuditKind.TOLD)


class AuditRow(Contract):
    """An audit event as a service stores it.

    ``action`` is a method and path, or words. ``remote`` is the address of the client. ``outcome``
    is the HTTP status. ``facts`` are results.
    """

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
    """A filter for audit events.

    ``what`` is a part of the action, such as `POST /api/v1/chains`. ``object`` is the uid or name
    of the object. ``after`` is the ``after`` of the page before.
    """

    who: Annotated[str, Field(max_length=200)] | None = None
    what: Annotated[str, Field(max_length=200)] | None = None
    object: ObjectName | None = None
    since: Timestamp | None = None
    until: Timestamp | None = None
    after: str | None = None
    limit: Annotated[int, Field(ge=1, le=1000)] = 100


class AuditSearch(AuditFilter):
    """A filter with other names of the ``object`` in ``also``."""

    also: Annotated[list[ObjectName], Field(max_length=100)] = Field(default_factory=list)

    @property
    def names(self) -> list[str] | None:
        """Return all names of the object, or None for any object."""
        return None if self.object is None else [self.object, *self.also]


class AuditRows(Contract):
    """A list of audit events of one service."""

    rows: list[AuditRow]


class AuditEntry(Contract):
    """A request with all its audit events.

    ``outcome`` is None if the service ended before it answered. ``changed`` lists the services that
    committed a change for the request.
    """

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
        """Return the facts that the action does not contain, as text."""
        return [
            f"{name} {fact}"
            for name, fact in sorted(self.facts.items())
            if fact not in self.action.split("/")
        ]


class AuditPage(Contract):
    """Audit entries, the newest first.

    ``after`` is where the next page begins, or None on the last page.
    """

    entries: list[AuditEntry]
    after: str | None = None


class AuditVerdict(Contract):
    """The result of a check of the hash chain of one service's audit log.

    ``head`` is the digest of the last row. Compare it with a copy from another place. ``wrong``
    names the first changed row and is empty if there is none. ``unchained`` counts rows that are
    not in the chain yet. ``forgotten`` counts rows that were older than the retention.
    """

    service: str
    rows: int
    unchained: int
    forgotten: int
    head: str
    wrong: Annotated[str, Field(description="A sentence about the first changed row.")] = ""


class AuditVerdicts(Contract):
    """The results of the check for all services."""

    services: list[AuditVerdict]
