"""Filters of a list of audit entries."""

from datetime import datetime
from typing import TypedDict


class AuditFilters(TypedDict, total=False):
    """Filters of a list of audit entries. A filter that is None or missing does not apply.

    Attributes:
        who: Entries of this person.
        what: Entries with this text in the action.
        object: Entries about the object of this name or uid.
        since: Entries from this time on.
        until: Entries up to this time.
    """

    who: str | None
    what: str | None
    object: str | None
    since: datetime | None
    until: datetime | None
