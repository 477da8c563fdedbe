"""A places API in Google's classic form, with a daily quota of units.

Most of its sites are correct.
"""

import re
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from masstimes.small_web.parishes import Parish

#: The units of a search, and of the details of a place.
UNITS, DETAIL_UNITS = 10, 1
#: The only key that is accepted.
KEY = "demo"
#: The shares of parishes with a wrong site, without a site, and without a place. The last share has
#: places that are found only without their street.
_WRONG_SITE, _NO_SITE, _NO_PLACE, _WITHOUT_STREET = 0.03, 0.02, 0.02, 0.2


class Places:
    """The API. ``quota`` is the number of units in ``day`` seconds of ``clock``."""

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
        self._ids_by_words: dict[frozenset[str], str] = {}
        self._places: dict[str, dict[str, str]] = {}
        for parish in parishes:
            draw, host = random.random(), parish.host
            if draw < _NO_PLACE:
                continue
            if draw < _NO_PLACE + _WRONG_SITE:
                host = random.choice(parishes).host
            has_site = draw >= _NO_PLACE + _WRONG_SITE + _NO_SITE
            place = {
                "place_id": f"place-{parish.number}",
                "name": parish.name,
                "formatted_address": parish.address,
            }
            self._places[place["place_id"]] = place
            if has_site or draw < _NO_PLACE + _WRONG_SITE:
                place["website"] = f"http://{host}:{port}/"
            words = f"{parish.name} {parish.place}"
            if random.random() >= _WITHOUT_STREET:
                street = parish.address.split(",")[0]
                self._ids_by_words[_words(f"{words} {street}")] = place["place_id"]
            self._ids_by_words[_words(words)] = place["place_id"]

    def search(self, query: str, key: str) -> dict[str, Any]:
        """Return the place with the words of the query, as JSON without its site."""
        refusal = self._charge(key, UNITS)
        if refusal:
            return {"status": refusal, "results": []}
        place = self._places.get(self._ids_by_words.get(_words(query), ""))
        if place is None:
            return {"status": "ZERO_RESULTS", "results": []}
        hit = {name: value for name, value in place.items() if name != "website"}
        return {"status": "OK", "results": [hit]}

    def details(self, place_id: str, key: str) -> dict[str, Any]:
        """Return the site of a place, as JSON."""
        refusal = self._charge(key, DETAIL_UNITS)
        if refusal:
            return {"status": refusal}
        place = self._places.get(place_id)
        if place is None:
            return {"status": "NOT_FOUND"}
        details = {name: value for name, value in place.items() if name == "website"}
        return {"status": "OK", "result": details}

    def _charge(self, key: str, units: int) -> str:
        """Spend the units, and return an empty text or the status of a refusal."""
        if key != KEY:
            return "REQUEST_DENIED"
        today = int(self._clock() // self._day)
        if today != self._today:
            self._today, self._used = today, 0
        if self._used + units > self._quota:
            return "OVER_QUERY_LIMIT"
        self._used += units
        return ""


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.lower())) - {"ul"}
