"""Choose the pages that may have the times of masses: by address, by link, and by what they say."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from masstimes.folding import folded
from masstimes.reading.lines import readings

#: Of orders of masses. The source's patterns without the blanks that its print put in, and more
#: ways in which parishes write the same.
WANTED = re.compile(
    r"msze|msza\b|nabo[żz]e[ńn]stw(a|(?=\W\d)|(?=\.\w)|$)|porz[ąa]dek($|\.(html?|php))"
    r"|porz[aą]dek.(liturgi|mszy|nabo|niedziel|[sś]wi[aą]t)"
    r"|(rozk[lł]ad|plan|godz(iny|\.)?|uk[lł]ad|harmonogram|grafik|rozpiska).(mszy|nabo)"
    r"|liturgia\W*($|\.(html?|php))|eucharysti",
    re.IGNORECASE,
)
#: Of other services; the source's, but that it writes no ó in ``różańcowe``.
UNWANTED = re.compile(
    r"nabo[zż]e[nń]stwa.(majowe|wielk|czerwcowe|maryjne|pasyjne|pokutne|fatimskie|do|r[oó][żz]a"
    r"|czterdzie|w.wielk)",
    re.IGNORECASE,
)
#: Of pages whose masses are those of one day or one week; as ``folded``.
_NEWS = re.compile(
    r"ogloszeni|aktualnosc|intencj|wydarzeni|galeri|archiw|histori|kronik|blog|news|kalendarz"
    r"|gazetk|biuletyn|wspomnieni"
)
#: Masses of a Sunday that are an order of masses.
_SUNDAYS = 3


def is_wanted(url: str, link_text: str) -> bool:
    """Algorithm 6 of the source: by the address's last part, or by the link that led there."""
    return any(map(_speaks_of_masses, (last_part(url), link_text)))


def has_order(text: str, *, is_start: bool) -> bool:
    """Tell whether a page's text has an order of masses.

    On a start page one time with its day is enough; elsewhere Sundays and weekdays have to be
    there, or several masses of a Sunday, as pages of news speak of single masses.
    """
    masses = [found for found in readings(text) if found.topic and found.topic.is_mass]
    days = {found.day for found in masses}
    if is_start:
        return bool(days - {"unknown"})
    sundays = {found.time for found in masses if found.day == "sunday"}
    return {"sunday", "weekday"} <= days or len(sundays) >= _SUNDAYS


def is_news(url: str, link_text: str) -> bool:
    """Tell pages whose masses are those of one day or one week."""
    address = urlsplit(url)
    said = unquote(f"{address.path} {address.query} {link_text}")
    return _NEWS.search(folded(said)) is not None


def last_part(url: str) -> str:
    """Return what stands behind the last slash, or before it where nothing stands behind it."""
    path, _, rest = url.partition("?")
    if not rest and path.endswith("/") and urlsplit(path).path.strip("/"):
        path = path.rstrip("/")
    return unquote(f"{path}?{rest}".rstrip("?").rsplit("/", 1)[-1])


def _speaks_of_masses(text: str) -> bool:
    return WANTED.search(text) is not None and UNWANTED.search(text) is None
