"""What a crawler meets and has to come out of."""

from __future__ import annotations

from enum import StrEnum

#: The path below which a trap lies.
PLACE = "/pulapka/"


class Trap(StrEnum):
    """One site has one at most, beside its ordinary pages."""

    CALENDAR = "calendar"
    SESSION = "session"
    PERMUTATIONS = "permutations"
    CIRCLE = "circle"
    ELSEWHERE = "elsewhere"
    HUGE = "huge"
    ENDLESS = "endless"
    BOMB = "bomb"
    SILENT = "silent"
    DRIP = "drip"
    LONG_LINE = "long-line"
    COOKIES = "cookies"
    DEEPER = "deeper"
    ERRORS = "errors"
    ROBOTS = "robots"
    PDF = "pdf"
    PICTURE = "picture"
    LONG_URL = "long-url"


class Dead(StrEnum):
    """A site of which nobody gets a page."""

    SILENT = "silent"
    ERRORS = "errors"
    FORBIDDEN = "forbidden"


#: What lies there first; what follows links from one to the next is bounded by nothing.
ENTRIES = {
    Trap.CALENDAR: "kalendarz?rok=2018&miesiac=1",
    Trap.SESSION: "strona-1.html",
    Trap.PERMUTATIONS: "galeria?sort=data&dir=up&foto=1",
    Trap.LONG_URL: "dalej/",
}


def entry(trap: Trap) -> str:
    """The address that a page of the site links to."""
    return f"{PLACE}{trap.value}/{ENTRIES.get(trap, 'index.html')}"
