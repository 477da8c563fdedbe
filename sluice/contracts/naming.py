"""Names of the files that jobs write: ``<seq, 8 digits or more>.<attempt>-<the tool's own name>``, and ``….log``.

No two attempts share a name, so none ever overwrites another's file, and what an attempt that lost left behind can be told by its
name. The next tool sees the tool's own name again, as it would under any other runner.
"""

import re

_MADE = re.compile(r"(?:[0-9]{8}|[1-9][0-9]{8,})\.[0-9]+(?:\.log|-(?P<own>.+))", re.ASCII | re.DOTALL)


def attempt_prefix(seq: int, attempt: int) -> str:
    return f"{seq:08d}.{attempt}"


def output_name(seq: int, attempt: int, own: str) -> str:
    """Name on the storage of the file that a tool called ``own``."""
    return f"{attempt_prefix(seq, attempt)}-{own}"


def log_name(seq: int, attempt: int) -> str:
    return f"{attempt_prefix(seq, attempt)}.log"


def live_name(seq: int, attempt: int) -> str:
    """Name of what has been written to the log so far, while the attempt runs."""
    return output_name(seq, attempt, "live.json")


def own_name(name: str) -> str:
    """What the tool called it; names of another form are returned as they are."""
    made = _MADE.fullmatch(name)
    return made["own"] or name if made else name


def written_by_attempt(name: str) -> bool:
    """Is it of the form that attempts at jobs give their files?"""
    return _MADE.fullmatch(name) is not None
