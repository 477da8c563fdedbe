"""A places API: a text is asked for, places with their sites come back."""

from __future__ import annotations

import json
from typing import Any

from pack_command import CommandError

from masstimes.manners import GaveUp, is_web_address
from masstimes.places.cache import Cache
from masstimes.polite import Answer, Polite

#: Of a place that is kept.
_KEPT = ("name", "formatted_address", "website")


class OverQuota(GaveUp):
    """No more is answered today."""


class Denied(CommandError):
    """The key is not taken."""

    exit_code = 77


class Nonsense(CommandError):
    """What came is no answer of a places API."""

    exit_code = 76


class Places:
    """Answers of the API at this address, or of the cache."""

    def __init__(self, api: str, key: str, polite: Polite, cache: Cache) -> None:
        self._url = f"{api.rstrip('/').removesuffix('/places')}/places"
        self._key = key
        self._polite = polite
        self._cache = cache

    def find(self, query: str) -> list[dict[str, Any]]:
        """Places for a text, the best first. Raises ``OverQuota``, ``Denied``, ``Nonsense``, and
        what ``Polite`` does; none of them says the key."""
        known = self._cache.get(query)
        if known is None:
            answer = self._polite.get(self._url, {"query": query, "key": self._key})
            known = self._judged(query, answer)
            self._cache.put(query, known)
        return known

    def _judged(self, query: str, answer: Answer) -> list[dict[str, Any]]:
        try:
            found = json.loads(answer.body)
            status, message = found["status"], str(found.get("error_message", ""))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise Nonsense(
                f"{self._url}: for {query!r} came no JSON with a status: {answer.body[:80]!r}"
            ) from error
        said = f": {message.replace(self._key, '(the key)')[:200]}" if message else ""
        match status:
            case "ZERO_RESULTS":
                return []
            case "OK":
                return _results(self._url, query, found)
            case "OVER_QUERY_LIMIT":
                raise OverQuota(f"{self._url}: the quota is used up{said}; later it is full again")
            case "REQUEST_DENIED":
                raise Denied(f"{self._url}: the key is not taken{said}")
            case _:
                raise Nonsense(f"{self._url}: for {query!r} came the status {status!r}{said}")


def _results(url: str, query: str, found: dict[str, Any]) -> list[dict[str, Any]]:
    results = found.get("results")
    if not isinstance(results, list) or not all(isinstance(each, dict) for each in results):
        raise Nonsense(f"{url}: for {query!r} came no list of results")
    return [{name: each[name] for name in _KEPT if name in each} for each in results]


def site_in(results: list[dict[str, Any]]) -> str | None:
    """Of the first that has one."""
    for each in results:
        site = each.get("website")
        if isinstance(site, str) and is_web_address(site):
            return site
    return None
