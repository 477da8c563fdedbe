"""Delivery of notifications by mail or webhook, through Apprise."""

import apprise


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
                    " supported by Apprise"
                )

    async def send(self, title: str, body: str) -> bool:
        """Send a message and return whether all addresses got it."""
        return bool(await self._apprise.async_notify(title=title, body=body))
