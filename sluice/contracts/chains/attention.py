"""Notices that need a person, their acknowledgements, and counts of open work."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import StringConstraints

from sluice.contracts.common.base import Contract, Timestamp
from sluice.contracts.common.problems import Conflict
from sluice.contracts.common.wording import StringRule

#: A person's name as that person writes it.
PersonName = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=1, max_length=100,
        pattern=r"^[^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f][^\x00-\x1f\x7f]*$",
    ),
    StringRule(
        "a person's name", first=r"[^\x00-\x1f\x7f]", other=r"[^\x00-\x1f\x7f]", most=100,
        rule="is not blank, has at most 100 characters, and no control character (tab, newline)",
    ),
]  # fmt: skip


class Acknowledge(Contract):
    """A request to acknowledge a notice. ``by`` is the name of the person."""

    by: PersonName


class Acknowledgement(Contract):
    """The first person who acknowledged a notice, and the time."""

    by: str
    at: Timestamp


class AlreadyAcknowledged(Conflict):
    """Another person has acknowledged the notice. The first acknowledgement stays."""

    def __init__(self, what: str, by: str, at: datetime) -> None:
        super().__init__(f"{by} has seen it already, {at:%F %T}: {what}", by=by, at=at.isoformat())


class ChainCounts(Contract):
    """The number of chains that have not ended, and of chains that need a person."""

    in_progress: int
    uploading: int
    attention: int


class WorkCounts(Contract):
    """The number of jobs of tasks that have not ended, at one moment.

    ``running`` jobs are in a slot of a live pilot (``Pilot.busy``). ``waiting`` jobs are all others
    that are still to run: ready, or leased by a pilot in advance. ``quarantined`` jobs wait for a
    person.
    ``slots`` is the number of slots of live pilots. ``troubled`` is the number of tasks with jobs
    that failed for good or are quarantined. It is present only on request.
    """

    running: int
    waiting: int
    quarantined: int
    slots: int
    troubled: int | None = None


class NoticeSeverity(StrEnum):
    """The severity of a notice."""

    ERROR = "error"
    WARNING = "warning"


class Subject(StrEnum):
    """A kind of object that can be acknowledged."""

    CHAIN = "chain"
    #: A chain that finished with failed jobs: what they have read is given up with it.
    FAILURES = "failures"
    PILOT = "pilot"


class Notice(Contract):
    """A sentence about something that needs a person.

    A notice with an ``id`` can be acknowledged. A notice without one disappears with its cause.
    ``chain_uid`` and ``task_uid`` are its subject. ``page`` is the page that shows it.
    """

    text: str
    severity: NoticeSeverity
    id: str | None = None
    since: Timestamp | None = None
    chain_uid: UUID | None = None
    task_uid: UUID | None = None
    page: str | None = None

    @staticmethod
    def subject_of(notice: str) -> tuple[Subject, UUID] | None:
        """Return the kind and uid in the id of a notice, or None if the id is invalid."""
        kind, _, uid = notice.partition(":")
        try:
            return Subject(kind), UUID(uid)
        except ValueError:
            return None


class NoticeList(Contract):
    """Notices: errors first, the newest first within a severity.

    If there are many, half of the places are for notices that can be acknowledged.
    ``more`` is the number of notices that are left out.
    """

    notices: list[Notice]
    more: int = 0
