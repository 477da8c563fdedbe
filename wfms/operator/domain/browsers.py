"""Which browser somebody has, in short."""

import re

#: What the others claim to be comes behind them.
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
_MOST = 40


def browser_in_short(agent: str) -> str:
    """``Firefox on Android``; of what is none of those known, the beginning of what it says."""
    name = next((name for pattern, name in _NAMES if re.search(pattern, agent)), None)
    system = next((name for pattern, name in _SYSTEMS if re.search(pattern, agent)), None)
    if name is None:
        return agent[:_MOST] or "unknown"
    return name if system is None else f"{name} on {system}"
