"""OpenStreetMap's Nominatim, whose searches return sites, so that no details are needed."""

from typing import Any, ClassVar

from masstimes.places.provider import (
    Access,
    InvalidResponse,
    Page,
    Place,
    get_text,
    parse_site,
    read_json,
)
from masstimes.polite import Answer, ApiRequest, PoliteClient
from sluice.text.visible_text import quoted

_HITS = 10
#: Tags of OpenStreetMap with a site, the best first.
_SITE_TAGS = ("website", "contact:website", "url")


class Nominatim:
    """Requests to ``…/search``. The token of the next page is the list of ids to leave out."""

    DEFAULT_URL: ClassVar[str] = "https://nominatim.openstreetmap.org"
    HAS_DETAILS: ClassVar[bool] = False
    NEEDS_KEY: ClassVar[bool] = False
    #: Its usage policy allows one request a second.
    PAUSE: ClassVar[float] = 1.0

    def __init__(self, access: Access, polite: PoliteClient) -> None:
        self._access = access
        self._polite = polite

    def search(self, text: str, token: str) -> Page:
        """Return a page of hits with their sites."""
        query = {"q": text, "format": "jsonv2", "extratags": "1", "limit": str(_HITS)}
        for name, value in (
            ("accept-language", self._access.language),
            ("countrycodes", self._access.region),
            ("exclude_place_ids", token),
        ):
            if value:
                query[name] = value
        url = f"{self._access.url.rstrip('/')}/search"
        places = self._polite.call(ApiRequest(url, query), self._read)
        if len(places) < _HITS:
            return Page(places)
        return Page(places, ",".join(filter(None, [token, *(place.id for place in places)])))

    def detail(self, place_id: str) -> str | None:
        """Return None, because the search has returned all that is known."""
        return None

    def _read(self, answer: Answer) -> tuple[Place, ...]:
        url = self._access.url
        hits = read_json(url, answer)
        if not isinstance(hits, list) or not all(isinstance(hit, dict) for hit in hits):
            raise InvalidResponse(
                f"{url}: the answer is not a list of places: {quoted(answer.body[:80])}"
            )
        return tuple(_place(hit) for hit in hits)


def _place(hit: dict[str, Any]) -> Place:
    tags = hit.get("extratags")
    values = [get_text(tags, tag) for tag in _SITE_TAGS] if isinstance(tags, dict) else []
    # OpenStreetMap separates several values of a tag by semicolons.
    sites = [parse_site(site) for value in values for site in value.split(";")]
    return Place(
        str(hit.get("place_id", "")),
        get_text(hit, "name"),
        get_text(hit, "display_name"),
        next(filter(None, sites), None),
    )
