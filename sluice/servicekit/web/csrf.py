"""Protection against cross-site request forgery.

Programs and pages of this system may change data. Pages of other sites in a person's browser may
not.
"""

from typing import Protocol
from urllib.parse import urlsplit

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


class Headers(Protocol):
    """The headers of a request, by name in any case."""

    def get(self, key: str, /) -> str | None:
        """Return the value of a header, or None."""


def comes_from_elsewhere(method: str, headers: Headers) -> bool:
    """Return whether a page of another site sent a request that may change something.

    Browsers name the origin of the page in every unsafe request (Fetch standard, ``Origin`` and
    ``Sec-Fetch-Site``). Programs send neither header.
    """
    if method in _SAFE:
        return False
    origin = headers.get("origin")
    if (
        origin is not None
        and urlsplit(origin).netloc.lower() != (headers.get("host") or "").lower()
    ):
        return True
    return headers.get("sec-fetch-site") not in {None, "same-origin", "none"}
