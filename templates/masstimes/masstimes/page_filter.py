"""A filter of pages that may have mass times, by address, link and text."""

import re
from urllib.parse import unquote, urlsplit

from masstimes.folding import fold
from masstimes.reading.lines import find_readings

#: Words of mass schedules: the source's patterns without the blanks of its print, and more
#: spellings of parishes.
MASS_WORDS = re.compile(
    r"msze|msza\b|nabo[żz]e[ńn]stw(a|(?=\W\d)|(?=\.\w)|$)|porz[ąa]dek($|\.(html?|php))"
    r"|porz[aą]dek.(liturgi|mszy|nabo|niedziel|[sś]wi[aą]t)"
    r"|(rozk[lł]ad|plan|godz(iny|\.)?|uk[lł]ad|harmonogram|grafik|rozpiska).(mszy|nabo)"
    r"|liturgia\W*($|\.(html?|php))|eucharysti",
    re.IGNORECASE,
)
#: Words of other services: the source's patterns, and ``różańcowe`` with ó.
OTHER_SERVICE_WORDS = re.compile(
    r"nabo[zż]e[nń]stwa.(majowe|wielk|czerwcowe|maryjne|pasyjne|pokutne|fatimskie|do|r[oó][żz]a"
    r"|czterdzie|w.wielk)",
    re.IGNORECASE,
)
#: Folded words of pages whose masses are those of one day or one week.
_NEWS = re.compile(
    r"ogloszeni|aktualnosc|intencj|wydarzeni|galeri|archiw|histori|kronik|blog|news|kalendarz"
    r"|gazetk|biuletyn|wspomnieni"
)
#: The number of masses on a Sunday that make a mass schedule.
_SUNDAYS = 3


def is_mass_page(url: str, link_text: str) -> bool:
    """Return whether the address's last part or the link suggests masses.

    This is algorithm 6 of the source.
    """
    return any(map(_mentions_masses, (get_last_part(url), link_text)))


def has_order(text: str, *, is_start: bool) -> bool:
    """Return whether a page's text has a mass schedule.

    On a start page, one time with its day is enough. Other pages need Sundays and weekdays, or
    several masses of a Sunday, because news mention single masses.
    """
    masses = [reading for reading in find_readings(text) if reading.topic and reading.topic.is_mass]
    days = {reading.day for reading in masses}
    if is_start:
        return bool(days - {"unknown"})
    sundays = {reading.time for reading in masses if reading.day == "sunday"}
    return {"sunday", "weekday"} <= days or len(sundays) >= _SUNDAYS


def is_news(url: str, link_text: str) -> bool:
    """Return whether the masses of a page are those of one day or one week."""
    address = urlsplit(url)
    words = unquote(f"{address.path} {address.query} {link_text}")
    return _NEWS.search(fold(words)) is not None


def get_last_part(url: str) -> str:
    """Return the part after the last slash, or before it if nothing follows."""
    path, _, rest = url.partition("?")
    if not rest and path.endswith("/") and urlsplit(path).path.strip("/"):
        path = path.rstrip("/")
    return unquote(f"{path}?{rest}".rstrip("?").rsplit("/", 1)[-1])


def _mentions_masses(text: str) -> bool:
    return MASS_WORDS.search(text) is not None and OTHER_SERVICE_WORDS.search(text) is None
