"""The limits of the crawl of a site."""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one site.

    ``depth`` counts links from the start page, ``pages`` counts requested addresses. ``queries`` is
    the number of addresses that differ only in their query. ``url`` is in characters. ``page`` and
    ``site`` are in bytes, for a page also after unpacking. ``timeout`` is the time in seconds until
    the last byte of an answer, ``seconds`` the time for the site. After ``failures`` in a row, the
    crawl ends.
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
    #: How often one part of a path may occur, as in ``/a/a/a``.
    repeats: int = 3


class Ending(StrEnum):
    """The reason why the crawl of a site ended."""

    DONE = "done"
    PAGES = "max-pages"
    BYTES = "max-bytes"
    SECONDS = "max-seconds"
    FAILURES = "max-failures"
    UNREACHABLE = "unreachable"
    ELSEWHERE = "elsewhere"
    ROBOTS = "robots"
    NO_ADDRESS = "no-address"
