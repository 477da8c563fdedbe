"""Notices of what needs a person: of events until acknowledged, of conditions until over."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TypedDict, Unpack
from uuid import UUID

from sluice.contracts.chains.attention import Notice, NoticeSeverity
from sluice.contracts.common.numbers import conjugate, format_count
from sluice.contracts.common.problems import Unprocessable
from sluice.text.visible_text import quoted


class NoSuchNotice(Unprocessable):
    """The id does not belong to a notice that can be acknowledged."""

    def __init__(self, notice: str) -> None:
        super().__init__(
            f"{quoted(notice)} is not the id of a notice that can be acknowledged", notice=notice
        )


class NoticeFields(TypedDict, total=False):
    """Optional fields of a notice, as in ``Notice``."""

    id: str | None
    since: datetime | None
    chain_uid: UUID | None
    task_uid: UUID | None
    page: str | None
    is_count: bool


def error_notice(text: str, **fields: Unpack[NoticeFields]) -> Notice:
    """Return a notice of an error."""
    return Notice(text=text, severity=NoticeSeverity.ERROR, **fields)


def warning_notice(text: str, **fields: Unpack[NoticeFields]) -> Notice:
    """Return a notice that warns."""
    return Notice(text=text, severity=NoticeSeverity.WARNING, **fields)


def describe_waiting_jobs(number: int) -> str:
    """Return how many jobs wait: ``1 job waits``, ``3 jobs wait``."""
    return f"{format_count(number, 'job', grouped=True)} {conjugate(number, 'wait')}"


def sort_notices(notices: Iterable[Notice]) -> list[Notice]:
    """Return errors first, and among equal severity notices about the whole system first."""
    return sorted(
        notices,
        key=lambda notice: (notice.severity is not NoticeSeverity.ERROR, _concerns_one(notice)),
    )


def _concerns_one(notice: Notice) -> bool:
    return any((notice.id, notice.chain_uid, notice.task_uid, notice.page))


def select_notices(notices: Iterable[Notice], *, limit: int) -> list[Notice]:
    """Return at most ``limit`` notices in order.

    Conditions and events get half of the places each, and those that the other kind does not
    need, so that neither hides the other.
    """
    ordered = sort_notices(notices)
    conditions = [place for place, notice in enumerate(ordered) if notice.id is None]
    events = [place for place, notice in enumerate(ordered) if notice.id is not None]
    selected = events[: max(limit - limit // 2, limit - len(conditions))]
    selected += conditions[: limit - len(selected)]
    return [ordered[place] for place in sorted(selected)]


def report_dead_letters(dead: Mapping[str, int]) -> list[Notice]:
    """Return a notice for each queue that has dead letters."""
    return [
        error_notice(
            f"Queue {queue} has {format_count(number, 'dead message', grouped=True)}: their"
            " requests are not carried out, and chains wait for them",
            page="queues",
        )
        for queue, number in dead.items()
        if number
    ]
