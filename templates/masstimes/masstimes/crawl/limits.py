"""What bounds the crawl of a site, whatever it answers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Limits:
    """``depth``: links from the start page. ``pages``: addresses asked for. ``queries``: addresses
    that differ behind the question mark alone. ``url``: characters. ``page`` and ``site``: bytes,
    of a page also once it is unpacked. ``timeout``: seconds for an answer, to its last byte.
    ``seconds``: for the site. ``failures``: so many in a row, and it is left.
    """

    depth: int = 3
    pages: int = 2000
    queries: int = 200
    url: int = 1000
    page: int = 10 * 2**20
    site: int = 2**30
    timeout: float = 60.0
    seconds: float = 86400.0
    failures: int = 10
    redirects: int = 5
    #: Of one part of a path, as in ``/a/a/a/a``.
    repeats: int = 3


class Ending(StrEnum):
    """Why a site's crawl ended."""

    DONE = "done"
    PAGES = "most-pages"
    BYTES = "most-bytes"
    SECONDS = "most-seconds"
    FAILURES = "most-failures"
    UNREACHABLE = "unreachable"
    ELSEWHERE = "elsewhere"
    ROBOTS = "robots"
    NO_ADDRESS = "no-address"
