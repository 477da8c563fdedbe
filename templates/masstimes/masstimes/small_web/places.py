"""A search for places with a quota of units a day. Most sites that it knows are the right ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from masstimes.small_web.parishes import Parish

#: Units of a search.
UNITS = 10
#: Any other is denied.
KEY = "demo"
#: Parts of all parishes: of which it has a wrong site, none, no place at all, and a place that is
#: found by its name and town alone, not with its street.
_WRONG, _NO_SITE, _UNKNOWN, _SHORT = 0.03, 0.02, 0.02, 0.2


class Places:
    """``quota``: units of ``day`` seconds by ``clock``."""

    def __init__(
        self,
        parishes: Sequence[Parish],
        port: int,
        *,
        seed: int,
        quota: int = 1000,
        day: float = 86400,
        clock: Callable[[], float],
    ) -> None:
        self._quota, self._day, self._clock = quota, day, clock
        self._today, self._used = -1, 0
        random = Random(f"places {seed}")
        self._known: dict[frozenset[str], dict[str, str]] = {}
        for parish in parishes:
            luck, host = random.random(), parish.host
            if luck < _UNKNOWN:
                continue
            if luck < _UNKNOWN + _WRONG:
                host = random.choice(parishes).host
            has_site = luck >= _UNKNOWN + _WRONG + _NO_SITE
            place = {"name": parish.name, "formatted_address": parish.address}
            if has_site or luck < _UNKNOWN + _WRONG:
                place["website"] = f"http://{host}:{port}/"
            named = f"{parish.name} {parish.place}"
            if random.random() >= _SHORT:
                street = parish.address.split(",")[0]
                self._known[_words(f"{named} {street}")] = place
            self._known[_words(named)] = place

    def search(self, query: str, key: str) -> dict[str, Any]:
        """As JSON; a place is found where the query has its words and no others."""
        if key != KEY:
            return {"status": "REQUEST_DENIED", "results": []}
        today = int(self._clock() // self._day)
        if today != self._today:
            self._today, self._used = today, 0
        if self._used + UNITS > self._quota:
            return {"status": "OVER_QUERY_LIMIT", "results": []}
        self._used += UNITS
        place = self._known.get(_words(query))
        if place is None:
            return {"status": "ZERO_RESULTS", "results": []}
        return {"status": "OK", "results": [place]}


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.lower())) - {"ul"}
