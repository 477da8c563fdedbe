"""Who may change something: programs, and our own pages. A page from elsewhere, open in somebody's
browser, may not."""

from typing import Protocol
from urllib.parse import urlsplit

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


class Headers(Protocol):
    """By name, in whatever case: as every framework has them."""

    def get(self, key: str, /) -> str | None: ...


def comes_from_elsewhere(method: str, headers: Headers) -> bool:
    """Browsers name the sending page's origin with every request that is not safe (Fetch standard,
    ``Origin`` and ``Sec-Fetch-Site``); programs name none."""
    if method in _SAFE:
        return False
    origin = headers.get("origin")
    if (
        origin is not None
        and urlsplit(origin).netloc.lower() != (headers.get("host") or "").lower()
    ):
        return True
    return headers.get("sec-fetch-site") not in {None, "same-origin", "none"}
