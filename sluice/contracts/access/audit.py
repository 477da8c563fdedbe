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


#: The kinds of the first event of an entry.
FIRST = (AuditKind.BEGUN, AuditKind.TOLD)


class AuditRow(Contract):
    """An audit event as a service stores it.

    Attributes:
        action: A method and path, or words.
        remote: The address of the client.
        outcome: The HTTP status.
        facts: Results of the request.
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

    Attributes:
        what: A part of the action, such as `POST /api/v1/chains`.
        object: The uid or name of the object.
        after: The ``after`` of the page before.
    """

    who: Annotated[str, Field(max_length=200)] | None = None
    what: Annotated[str, Field(max_length=200)] | None = None
    object: ObjectName | None = None
    since: Timestamp | None = None
    until: Timestamp | None = None
    after: str | None = None
    limit: Annotated[int, Field(ge=1, le=1000)] = 100


class AuditSearch(AuditFilter):
    """A filter for audit events with several names of the object.

    Attributes:
        also: Other names of the ``object``.
    """

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

    Attributes:
        outcome: The HTTP status. None means that the service ended before it answered.
        changed: The services that committed a change for the request.
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

    Attributes:
        after: Where the next page begins. None means that this is the last page.
    """

    entries: list[AuditEntry]
    after: str | None = None


class AuditVerdict(Contract):
    """The result of a check of the hash chain of one service's audit log.

    Attributes:
        unchained: The number of rows that are not in the chain yet.
        forgotten: The number of rows that were older than the retention.
        head: The digest of the last row. Compare it with a copy from another place.
        wrong: The first changed row. Empty if there is none.
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
