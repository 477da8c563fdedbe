"""Notification of people by mail or webhook about what needs them, once for each subject."""

from typing import Protocol

import structlog

from sluice.contracts.common.problems import ServiceError
from wfms.operator.context import OperatorContext
from wfms.operator.monitoring.db.notifications import (
    claim_notifications,
    forget_notifications,
    mark_sent,
    release_notifications,
)
from wfms.operator.monitoring.domain.notifications import (
    Notification,
    build_message,
    to_notification,
    to_unmatched_notification,
)
from wfms.operator.monitoring.usecases.get_attention import get_attention

log = structlog.get_logger(__name__)

#: Subjects that one call considers.
MAX_CONSIDERED = 200


class Notifier(Protocol):
    """Delivers a message to all configured addresses."""

    async def send(self, title: str, body: str) -> bool:
        """Return whether every address has taken the message."""
        ...


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
    delivered = await notifier.send(*build_message(new, public_url=public_url))
    async with context.database.connection() as connection:
        await (mark_sent if delivered else release_notifications)(connection, sorted(claimed))
    if not delivered:
        log.warning("notification.not_sent", news=len(new))
    return len(new) if delivered else 0


async def _current_news(context: OperatorContext) -> list[Notification]:
    news_of_notices = [
        news
        for notice in (await get_attention(context, limit=MAX_CONSIDERED)).notices.notices
        if (news := to_notification(notice)) is not None
    ]
    try:
        unmatched = (await context.intake.list_unmatched(limit=MAX_CONSIDERED)).datasets
    except ServiceError:  # a notice of get_attention reports it
        unmatched = []
    return [*(to_unmatched_notification(each) for each in unmatched), *news_of_notices]
