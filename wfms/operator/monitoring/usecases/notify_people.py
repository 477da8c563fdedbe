"""Notification of people by mail or webhook about what needs them, once for each subject."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import structlog

from sluice.contracts.chains.attention import Notice
from sluice.contracts.chains.intake import Unmatched
from sluice.contracts.common.numbers import format_count
from sluice.contracts.common.problems import ServiceError
from sluice.text.visible_text import visible_line
from wfms.operator.context import OperatorContext
from wfms.operator.monitoring.db.notifications import (
    claim_notifications,
    forget_notifications,
    mark_sent,
    release_notifications,
)
from wfms.operator.monitoring.usecases.read_attention import read_attention

log = structlog.get_logger(__name__)

#: Subjects that one call considers, and lines of one message.
MAX_CONSIDERED, MAX_LINES = 200, 20
_NUMBER = re.compile(r"\d[\d\u202f.]*")


class Notifier(Protocol):
    """Delivers a message to all configured addresses."""

    async def send(self, title: str, body: str) -> bool:
        """Return whether every address has taken the message."""
        ...


@dataclass(frozen=True, slots=True)
class Notification:
    """A subject that needs a person; ``key`` identifies it over time."""

    key: str
    text: str
    path: str


async def notify_people(
    context: OperatorContext, notifier: Notifier, *, public_url: str = ""
) -> int:
    """Send one message about everything that needs a person and was not sent before.

    A message that could not be delivered is sent again by the next call. A message may be sent
    twice if this process is killed after the delivery and before it is recorded.

    Args:
        context: The context of the operator service.
        notifier: Delivers the message.
        public_url: The address of the web page, for links in the message; empty for no links.

    Returns:
        The number of subjects in the message.
    """
    news = {each.key: each for each in await _current_news(context)}
    async with context.database.connection() as connection:
        claimed = await claim_notifications(connection, list(news))
        await forget_notifications(connection, list(news))
    new = [each for key, each in news.items() if key in claimed]
    if not new:
        return 0
    delivered = await notifier.send(*message(new, public_url=public_url))
    async with context.database.connection() as connection:
        await (mark_sent if delivered else release_notifications)(connection, sorted(claimed))
    if not delivered:
        log.warning("notification.not_sent", news=len(new))
    return len(new) if delivered else 0


async def _current_news(context: OperatorContext) -> list[Notification]:
    news_of_notices = [
        news
        for notice in (await read_attention(context, limit=MAX_CONSIDERED)).notices.notices
        if (news := to_notification(notice)) is not None
    ]
    try:
        unmatched = (await context.intake.list_unmatched(limit=MAX_CONSIDERED)).datasets
    except ServiceError:  # a notice of read_attention reports it
        unmatched = []
    return [*(to_unmatched_notification(each) for each in unmatched), *news_of_notices]


def to_unmatched_notification(dataset: Unmatched) -> Notification:
    """Return the news that no task can be defined for a data set."""
    return Notification(
        f"unmatched:{dataset.dataset_uid}",
        f"No task can be defined for data set {dataset.dataset_name}: {dataset.reason}",
        f"/datasets/{dataset.dataset_uid}",
    )


def to_notification(notice: Notice) -> Notification | None:
    """Return the news of a notice, or None if its subjects are reported one by one."""
    if notice.is_count:
        return None
    if notice.chain_uid is not None:
        path = f"/chains/{notice.chain_uid}"
    elif notice.task_uid is not None:
        path = f"/tasks/{notice.task_uid}"
    else:
        path = f"/{notice.page or ''}"
    # Numbers in a text change while its subject stays the same.
    return Notification(notice.id or f"{path} {_NUMBER.sub('#', notice.text)}", notice.text, path)


def message(news: Sequence[Notification], *, public_url: str) -> tuple[str, str]:
    """Return the title and the text of the message about ``news``."""
    lines = [
        f"- {visible_line(each.text)}"
        + (f"\n  {public_url.rstrip('/')}{each.path}" if public_url else "")
        for each in news[:MAX_LINES]
    ]
    if len(news) > MAX_LINES:
        lines.append(f"- and {len(news) - MAX_LINES} more")
    return f"Sluice: {format_count(len(news), 'thing')} to look at", "\n".join(lines)
