"""Google's Places API in its classic form: Text Search, then Place Details."""

from collections.abc import Mapping
from typing import Any, ClassVar

from masstimes.places.google_provider import GoogleProvider
from masstimes.places.provider import (
    InvalidResponse,
    Page,
    Place,
    get_objects,
    get_text,
    parse_site,
    read_json,
)
from masstimes.polite import Answer, ApiRequest, RetryLater
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
            status, content = self._get("textsearch", query)
            if status != "INVALID_REQUEST" or not token:
                break
        if token and status == "INVALID_REQUEST":
            return Page()
        self._require(status, content, "OK", "ZERO_RESULTS")
        places = tuple(
            Place(
                get_text(hit, "place_id"), get_text(hit, "name"), get_text(hit, "formatted_address")
            )
            for hit in get_objects(self._url, content, "results")
        )
        return Page(places, get_text(content, "next_page_token"))

    def detail(self, place_id: str) -> str | None:
        """Return the site of a place, or None for a deleted place."""
        status, content = self._get("details", {"place_id": place_id, "fields": "website"})
        self._require(status, content, "OK", "NOT_FOUND", "ZERO_RESULTS")
        result = content.get("result", {})
        if not isinstance(result, dict):
            raise InvalidResponse(f"{self._url}: 'result' of the answer is not an object")
        return parse_site(result.get("website"))

    def _get(self, endpoint: str, query: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
        access = self._access
        parameters = {**query, "key": access.key}
        if access.language:
            parameters["language"] = access.language
        request = ApiRequest(f"{self._url}/{endpoint}/json", query=parameters)
        return self._polite.call(request, self._read)

    def _read(self, answer: Answer) -> tuple[str, dict[str, Any]]:
        content = read_json(self._url, answer)
        if not isinstance(content, dict) or not isinstance(content.get("status"), str):
            raise InvalidResponse(
                f"{self._url}: the answer has no status: {quoted(answer.body[:80])}"
            )
        if content["status"] == "UNKNOWN_ERROR":
            raise RetryLater("its status is UNKNOWN_ERROR")
        return content["status"], content

    def _require(self, status: str, content: Mapping[str, Any], *accepted_statuses: str) -> None:
        if status not in accepted_statuses:
            self._fail(status, get_text(content, "error_message"))
