"""Search for a place, then requests for the details of its hits until one has a site."""

import dataclasses
from collections.abc import Iterator
from typing import Any

from masstimes.places.budget import Budget
from masstimes.places.cache import Cache
from masstimes.places.google import GooglePlaces
from masstimes.places.google_v1 import GooglePlacesV1
from masstimes.places.nominatim import Nominatim
from masstimes.places.provider import Page, Place, Provider, RequestKind, parse_site

PROVIDERS: dict[str, type[Provider]] = {
    "google": GooglePlaces,
    "google-v1": GooglePlacesV1,
    "nominatim": Nominatim,
}


@dataclasses.dataclass(frozen=True)
class Finder:
    """A search for sites with one provider.

    Attributes:
        name: The provider's name, which separates answers in the cache.
        max_pages: The pages of hits that are read for one text.
        max_details: The hits of one text whose details are requested.
    """

    name: str
    provider: Provider
    cache: Cache
    budget: Budget
    max_pages: int = 1
    max_details: int = 5

    def find_site(self, text: str) -> str | None:
        """Return the site of the first hit that has one."""
        details = 0
        for place in self._iter_hits(text):
            site = place.site
            if site is None and place.id and self.provider.HAS_DETAILS:
                if details == self.max_details:
                    return None
                details += 1
                site = self._get_detail(place.id)
            if site is not None:
                return site
        return None

    def _iter_hits(self, text: str) -> Iterator[Place]:
        """Yield the hits page by page, each place once."""
        seen_ids, token = set[str](), ""
        for number in range(self.max_pages):
            page = self._get_page(text, number, token)
            for place in page.places:
                if not place.id or place.id not in seen_ids:
                    seen_ids.add(place.id)
                    yield place
            token = page.token
            if not token:
                return

    def _get_page(self, text: str, number: int, token: str) -> Page:
        request = (self.name, RequestKind.SEARCH.value, text, str(number))
        if request not in self.cache:
            self.budget.spend(RequestKind.SEARCH)
            page = self.provider.search(text, token)
            self.cache.put(request, dataclasses.asdict(page))
        return _parse_page(self.cache.get(request))

    def _get_detail(self, place_id: str) -> str | None:
        request = (self.name, RequestKind.DETAIL.value, place_id)
        if request not in self.cache:
            self.budget.spend(RequestKind.DETAIL)
            self.cache.put(request, self.provider.detail(place_id))
        return parse_site(self.cache.get(request))


def _parse_page(fields: dict[str, Any]) -> Page:
    return Page(tuple(Place(**place) for place in fields["places"]), fields["token"])
