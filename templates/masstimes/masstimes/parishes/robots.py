"""Obey the robots.txt of a site (RFC 9309)."""

from __future__ import annotations

import httpx

from masstimes.manners import Refused
from masstimes.polite import Polite


class Robots:
    """The rules of the sites that are asked, each read once."""

    def __init__(self, polite: Polite) -> None:
        self._polite = polite
        self._rules: dict[str, bytes] = {}

    def require(self, url: str) -> None:
        """Return if the site lets this program read the page.

        Raises:
            Refused: its robots.txt forbids the page.
            GaveUp: its robots.txt cannot be had for now, so that every page counts as forbidden.
        """
        # Scrapy takes long to import.
        from masstimes.crawl.robots import FirstRules, first_rules  # noqa: PLC0415

        robots_url = str(httpx.URL(url).join("/robots.txt"))
        if robots_url not in self._rules:
            self._rules[robots_url] = self._read(robots_url)
        rules = FirstRules(first_rules(self._rules[robots_url]), None)
        if not rules.allowed(url, self._polite.user_agent):
            raise Refused(f"{url}: {robots_url} forbids this page: ask who runs the site")

    def _read(self, robots_url: str) -> bytes:
        """Return a robots.txt; one that the site refuses, or has elsewhere, counts as empty."""
        try:
            return self._polite.get(robots_url).body
        except Refused as refusal:
            if refusal.status is not None and refusal.status >= 500:
                raise
            return b""
