"""Google's Places API (New): `places:searchText`, then the place, each with a field mask."""

from typing import Any, ClassVar
from urllib.parse import quote

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
from masstimes.polite import Answer, ApiRequest
from sluice.text.visible_text import quoted

#: Statuses whose answers have an error in JSON.
_ERRORS = frozenset({400, 401, 403, 404, 429})
_SEARCH_MASK = "places.id,places.displayName,places.formattedAddress,nextPageToken"
_DETAIL_MASK = "id,websiteUri"


class GooglePlacesV1(GoogleProvider):
    """Requests to ``…/places:searchText`` and ``…/places/ID``."""

    DEFAULT_URL: ClassVar[str] = "https://places.googleapis.com/v1"
    OVER_QUOTA = frozenset({"RESOURCE_EXHAUSTED"})
    DENIED = frozenset({"PERMISSION_DENIED", "UNAUTHENTICATED"})

    def search(self, text: str, token: str) -> Page:
        """Return a page of hits. A token that is not accepted ends the pages."""
        body = {"textQuery": text}
        for name, value in (
            ("languageCode", self._access.language),
            ("regionCode", self._access.region),
            ("pageToken", token),
        ):
            if value:
                body[name] = value
        status, content = self._call("places:searchText", _SEARCH_MASK, body)
        if status == "INVALID_ARGUMENT" and token:
            return Page()
        self._require(status, content)
        return Page(
            tuple(self._place(each) for each in get_objects(self._url, content, "places")),
            get_text(content, "nextPageToken"),
        )

    def detail(self, place_id: str) -> str | None:
        """Return the site of a place, or None for a deleted place."""
        status, content = self._call(f"places/{quote(place_id, safe='')}", _DETAIL_MASK, None)
        if status == "NOT_FOUND":
            return None
        self._require(status, content)
        return parse_site(content.get("websiteUri"))

    def _place(self, hit: dict[str, Any]) -> Place:
        display_name = hit.get("displayName")
        name = get_text(display_name, "text") if isinstance(display_name, dict) else ""
        return Place(get_text(hit, "id"), name, get_text(hit, "formattedAddress"))

    def _call(
        self, path: str, mask: str, body: dict[str, str] | None
    ) -> tuple[str, dict[str, Any]]:
        """Return the status, ``OK`` without an error, and the answer or the error."""
        headers = {"X-Goog-Api-Key": self._access.key, "X-Goog-FieldMask": mask}
        query = None
        if body is None and self._access.language:
            query = {"languageCode": self._access.language}
        request = ApiRequest(f"{self._url}/{path}", query, headers, body, _ERRORS)
        return self._polite.call(request, self._read)

    def _read(self, answer: Answer) -> tuple[str, dict[str, Any]]:
        content = read_json(self._url, answer)
        error = content.get("error") if isinstance(content, dict) else None
        if answer.status < 400 and isinstance(content, dict) and error is None:
            return "OK", content
        if not isinstance(error, dict):
            raise InvalidResponse(
                f"{self._url}: answered {answer.status} without an error of the API:"
                f" {quoted(answer.body[:80])}"
            )
        return get_text(error, "status") or str(answer.status), error

    def _require(self, status: str, content: dict[str, Any]) -> None:
        if status != "OK":
            self._fail(status, get_text(content, "message"))
