"""Which pages have the times of masses, by their addresses and by the links that led to them."""

from __future__ import annotations

import re
from urllib.parse import unquote

#: Of orders of masses. The source's patterns; blanks that its print put in are left out.
WANTED = re.compile(
    r"msze|nabo[żz]e[ńn]stw(a|(?=\W\d)|$)|porz[ąa]dek($|\.htm)|porz[aą]dek.(liturgi|mszy)"
    r"|(rozk[lł]ad|plan|godziny|uk[lł]ad|harmonogram|grafik|rozpiska).mszy",
    re.IGNORECASE,
)
#: Of other services; the source's, but that it writes no ó in ``różańcowe``.
UNWANTED = re.compile(
    r"nabo[zż]e[nń]stwa.(majowe|wielk|czerwcowe|maryjne|pasyjne|pokutne|fatimskie|do|r[oó][żz]a"
    r"|czterdzie|w.wielk)",
    re.IGNORECASE,
)


def is_wanted(url: str, link_text: str) -> bool:
    """Algorithm 6 of the source. ``link_text``: of the link that led there; the last part of the
    address counts as well."""
    return any(map(_speaks_of_masses, (last_part(url), link_text)))


def last_part(url: str) -> str:
    """Behind the last slash, as people read it."""
    return unquote(url.rsplit("/", 1)[-1])


def _speaks_of_masses(text: str) -> bool:
    return WANTED.search(text) is not None and UNWANTED.search(text) is None
