"""What needs a person, who has seen it, and how much there is to do."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from sluice.contracts.base import Contract, Timestamp, absent
from sluice.contracts.problems import Conflict
from sluice.contracts.wording import Spelling

#: A person's name as that person writes it.
PersonName = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=1, max_length=100,
        pattern=r"^[^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f][^\x00-\x1f\x7f]*$",
    ),
    Spelling(
        "a person's name", first=r"[^\x00-\x1f\x7f]", other=r"[^\x00-\x1f\x7f]", most=100,
        rule="is not blank, has at most 100 characters, and no control character (tab, newline)",
    ),
]  # fmt: skip


class Acknowledge(Contract):
    """``by``: who has seen it. Nobody logs in yet, so it is what is said."""

    by: PersonName


class Acknowledgement(Contract):
    """Who has seen it, and when: the first who said so."""

    by: str
    at: Timestamp


class AlreadySeen(Conflict):
    """Somebody else has acknowledged it: the first stays."""

    def __init__(self, what: str, by: str, at: datetime) -> None:
        super().__init__(f"{by} has seen it already, {at:%F %T}: {what}", by=by, at=at.isoformat())


class ChainCounts(Contract):
    """Chains that have not ended, and those that need a person."""

    in_progress: int
    uploading: int
    attention: int


class WorkCounts(Contract):
    """Of one moment. Jobs of tasks that have not ended: ``running`` are in a slot of a pilot that
    is there (``Pilot.busy``), ``waiting`` are all others that are still to run (ready, or given to
    a pilot ahead), ``held`` wait for a person. ``slots``: of these pilots. ``troubled``: tasks with
    jobs that failed for good or are held; only for those who ask for it."""

    running: int
    waiting: int
    held: int
    slots: int
    troubled: int | None = Field(default=None, exclude_if=absent)


class NoticeSeverity(StrEnum):
    ERROR = "error"
    WARNING = "warning"


class Subject(StrEnum):
    """What can be acknowledged."""

    CHAIN = "chain"
    #: A chain that finished with failed jobs: what they have read is given up with it.
    FAILURES = "failures"
    PILOT = "pilot"


class Notice(Contract):
    """What needs a person, in one sentence. ``id``: with it, it is acknowledged; None: it goes when
    its cause has gone. ``chain_uid``, ``task_uid``: what it is about; ``page``: or the page that
    shows it.
    """

    text: str
    severity: NoticeSeverity
    id: str | None = Field(default=None, exclude_if=absent)
    since: Timestamp | None = Field(default=None, exclude_if=absent)
    chain_uid: UUID | None = Field(default=None, exclude_if=absent)
    task_uid: UUID | None = Field(default=None, exclude_if=absent)
    page: str | None = Field(default=None, exclude_if=absent)

    @staticmethod
    def subject_of(notice: str) -> tuple[Subject, UUID] | None:
        """What the notice of this ``id`` is about; None where that is no id."""
        kind, _, uid = notice.partition(":")
        try:
            return Subject(kind), UUID(uid)
        except ValueError:
            return None


class NoticeList(Contract):
    """Errors first, each kind newest first. Of many, what can be acknowledged has half of the
    places and what lasts the others. ``more``: how many are left out."""

    notices: list[Notice]
    more: int = 0
