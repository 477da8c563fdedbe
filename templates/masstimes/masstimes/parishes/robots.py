"""Obedience to the robots.txt of a site (RFC 9309)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx

from masstimes.polite import PoliteClient
from masstimes.request_policy import RequestRefused

if TYPE_CHECKING:
    from masstimes.crawl.robots import FirstRules


class Robots:
    """The rules of the requested sites, each read once."""

    def __init__(self, polite: PoliteClient) -> None:
        self._polite = polite
        self._rules: dict[str, FirstRules] = {}

    def require(self, url: str) -> None:
        """Return if the site lets this program read the page.

        Raises:
            RequestRefused: The robots.txt forbids the page.
            ServerUnavailable: The robots.txt is not available now, so every page counts as
                forbidden.
        """
        robots_url = str(httpx.URL(url).join("/robots.txt"))
        if robots_url not in self._rules:
            self._rules[robots_url] = self._read(robots_url)
        if not self._rules[robots_url].allowed(url, self._polite.user_agent):
            raise RequestRefused(f"{url}: {robots_url} forbids this page: ask who runs the site")

    def _read(self, robots_url: str) -> FirstRules:
        """Return the rules of a robots.txt, and slow down to its crawl delay.

        A robots.txt that the site refuses counts as empty.
        """
        # Scrapy takes long to import.
        from masstimes.crawl.robots import MAX_ROBOTS_BYTES, FirstRules, first_rules  # noqa: PLC0415

        try:
            body = self._polite.get_start(robots_url, MAX_ROBOTS_BYTES)
        except RequestRefused as refusal:
            if refusal.status is not None and refusal.status >= 500:
                raise
            body = b""
        rules = FirstRules(first_rules(body), None)
        self._polite.slow_down(rules.crawl_delay(self._polite.user_agent))
        return rules
