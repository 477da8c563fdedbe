"""Crawler traps and dead sites."""

from enum import StrEnum

#: The path of the traps.
PLACE = "/pulapka/"


class Trap(StrEnum):
    """The kinds of traps. A site has at most one, beside its ordinary pages."""

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
    """The kinds of sites from which a polite crawler gets no page."""

    SILENT = "silent"
    ERRORS = "errors"
    FORBIDDEN = "forbidden"


#: The first pages of traps. Following their links may never end.
ENTRIES = {
    Trap.CALENDAR: "kalendarz?rok=2018&miesiac=1",
    Trap.SESSION: "strona-1.html",
    Trap.PERMUTATIONS: "galeria?sort=data&dir=up&foto=1",
    Trap.LONG_URL: "dalej/",
}


def entry_path(trap: Trap) -> str:
    """Return the path of a trap, to which a page of the site links."""
    return f"{PLACE}{trap.value}/{ENTRIES.get(trap, 'index.html')}"
