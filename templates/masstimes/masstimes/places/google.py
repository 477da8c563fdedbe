"""Google's Places API in its classic form: Text Search, then Place Details."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from masstimes.places.google_provider import GoogleProvider
from masstimes.places.provider import (
    BadAnswer,
    Page,
    Place,
    objects_in,
    read_json,
    site_of,
    text_of,
)
from masstimes.polite import Answer, ApiRequest, Later
from sluice.text.visible_text import quoted

#: Seconds before each try with a token, which becomes valid a moment after its page.
_TOKEN_WAITS = (2.0, 2.0, 4.0)


class GooglePlaces(GoogleProvider):
    """Requests to ``…/textsearch/json`` and ``…/details/json``."""

    DEFAULT_URL: ClassVar[str] = "https://maps.googleapis.com/maps/api/place"
    OVER_QUOTA = frozenset({"OVER_QUERY_LIMIT", "OVER_DAILY_LIMIT"})
    DENIED = frozenset({"REQUEST_DENIED"})

    def search(self, text: str, token: str) -> Page:
        """Return a page of hits. A token that is not accepted ends the pages."""
        query = {"pagetoken": token} if token else {"query": text}
        if self._access.region and not token:
            query["region"] = self._access.region
        for wait in _TOKEN_WAITS if token else (0.0,):
            if token:
                self._polite.wait(wait)
            status, found = self._get("textsearch", query)
            if status != "INVALID_REQUEST" or not token:
                break
        if token and status == "INVALID_REQUEST":
            return Page()
        self._require(status, found, "OK", "ZERO_RESULTS")
        places = tuple(
            Place(
                text_of(each, "place_id"), text_of(each, "name"), text_of(each, "formatted_address")
            )
            for each in objects_in(self._url, found, "results")
        )
        return Page(places, text_of(found, "next_page_token"))

    def detail(self, place_id: str) -> str | None:
        """Return the site of a place, or None for a deleted place."""
        status, found = self._get("details", {"place_id": place_id, "fields": "website"})
        self._require(status, found, "OK", "NOT_FOUND", "ZERO_RESULTS")
        result = found.get("result", {})
        if not isinstance(result, dict):
            raise BadAnswer(f"{self._url}: 'result' of the answer is no object")
        return site_of(result.get("website"))

    def _get(self, what: str, query: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
        access = self._access
        sent = {**query, "key": access.key}
        if access.language:
            sent["language"] = access.language
        request = ApiRequest(f"{self._url}/{what}/json", query=sent)
        return self._polite.call(request, self._read)

    def _read(self, answer: Answer) -> tuple[str, dict[str, Any]]:
        found = read_json(self._url, answer)
        if not isinstance(found, dict) or not isinstance(found.get("status"), str):
            raise BadAnswer(f"{self._url}: the answer has no status: {quoted(answer.body[:80])}")
        if found["status"] == "UNKNOWN_ERROR":
            raise Later("its status is UNKNOWN_ERROR")
        return found["status"], found

    def _require(self, status: str, found: Mapping[str, Any], *fine: str) -> None:
        if status not in fine:
            self._fail(status, text_of(found, "error_message"))
