"""Notifications of people by mail or webhook, through Apprise."""

import apprise
import structlog

from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.running.loop import Loop
from wfms.operator.context import OperatorContext
from wfms.operator.monitoring.usecases.notify_people import notify_people

log = structlog.get_logger(__name__)


class AppriseNotifier:
    """Sends messages to addresses in Apprise's notation (``mailto://…``, ``json://…``)."""

    def __init__(self, urls: list[str]) -> None:
        """Check the addresses.

        Raises:
            ValueError: Apprise does not support an address.
        """
        self._apprise = apprise.Apprise()
        for number, url in enumerate(urls, start=1):
            if not self._apprise.add(url):  # the URL may contain a password
                raise ValueError(
                    f"SLUICE_OPERATOR_NOTIFY: address {number} ({url.partition(':')[0]}:…) is not"
                    " one that Apprise knows"
                )

    async def send(self, title: str, body: str) -> bool:
        """Send a message and return whether all addresses got it."""
        return bool(await self._apprise.async_notify(title=title, body=body))


def notification_loop(
    context: OperatorContext,
    urls: list[str],
    *,
    public_url: str,
    period: float,
    metrics: ServiceMetrics,
) -> Loop:
    """Return the loop that looks for news every ``period`` seconds."""
    notifier = AppriseNotifier(urls)

    async def look() -> bool:
        await notify_people(context, notifier, public_url=public_url)
        return False

    return Loop("notify", look, period=period, metrics=metrics)
