"""The short name of a browser."""

import re

#: The order matters because a browser also claims to be those further down.
_NAMES = (
    (r"Edg(?:e|A|iOS)?/", "Edge"),
    (r"OPR/", "Opera"),
    (r"SamsungBrowser/", "Samsung Internet"),
    (r"Firefox/|FxiOS/", "Firefox"),
    (r"HeadlessChrome/|Chrome/|CriOS/|Chromium/", "Chrome"),
    (r"Safari/", "Safari"),
)
_SYSTEMS = (
    (r"Android", "Android"),
    (r"iPhone", "iPhone"),
    (r"iPad", "iPad"),
    (r"Windows", "Windows"),
    (r"Mac OS X|Macintosh", "Mac"),
    (r"CrOS", "ChromeOS"),
    (r"Linux", "Linux"),
)
_MAX_NAME_LENGTH = 40


def browser_in_short(agent: str) -> str:
    """Return a name like ``Firefox on Android``; the start of ``agent`` if it is unknown."""
    name = next((name for pattern, name in _NAMES if re.search(pattern, agent)), None)
    system = next((name for pattern, name in _SYSTEMS if re.search(pattern, agent)), None)
    if name is None:
        return agent[:_MAX_NAME_LENGTH] or "unknown"
    return name if system is None else f"{name} on {system}"
