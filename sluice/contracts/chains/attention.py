"""Notices that need a person, their acknowledgements, and counts of open work."""

import operator
from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

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
        "a person's name", first=r"[^\x00-\x1f\x7f]", other=r"[^\x00-\x1f\x7f]", max_length=100,
        rule="is not blank, has at most 100 characters, and no control character (tab, newline)",
    ),
]  # fmt: skip


class Acknowledge(Contract):
    """A request to acknowledge a notice.

    Attributes:
        by: The name of the person.
    """

    by: PersonName


class Acknowledgement(Contract):
    """The first person who acknowledged a notice, and the time."""

    by: str
    at: Timestamp


class AlreadyAcknowledged(Conflict):
    """Another person has acknowledged the notice. The first acknowledgement stays."""

    def __init__(self, what: str, by: str, at: datetime) -> None:
        super().__init__(
            f"{by} already acknowledged it, {at:%F %T}: {what}", by=by, at=at.isoformat()
        )


class ChainCounts(Contract):
    """The number of chains that have not ended, and of chains that need a person."""

    in_progress: int
    uploading: int
    attention: int


class WorkCounts(Contract):
    """The number of jobs of tasks that have not ended, at one moment.

    Attributes:
        running: Jobs that are in a slot of a live pilot (``Pilot.busy``).
        waiting: All other jobs that are still to run: ready, or leased by a pilot in advance.
        quarantined: Jobs that wait for a person.
        slots: The number of slots of live pilots.
        troubled: The number of tasks with jobs that failed or are quarantined. Present
            only if the request asks for it.
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
    #: The failed jobs of a finished chain. After an acknowledgement, their inputs are released.
    FAILURES = "failures"
    PILOT = "pilot"


class Notice(Contract):
    """A sentence about something that needs a person.

    Attributes:
        id: The id by which it can be acknowledged. A notice without one disappears with its cause.
        chain_uid: The chain that it is about.
        task_uid: The task that it is about.
        page: The page that shows its subject.
        is_count: Whether it counts objects that mails and webhooks name one by one.
    """

    text: str
    severity: NoticeSeverity
    id: str | None = None
    since: Timestamp | None = None
    chain_uid: UUID | None = None
    task_uid: UUID | None = None
    page: str | None = None
    is_count: bool = Field(default=False, exclude_if=operator.not_)

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

    Attributes:
        more: The number of notices that are left out.
    """

    notices: list[Notice]
    more: int = 0
