"""Which unregistered files in a data set's folder are left by attempts that did not win, and may go."""

import re

#: ``<8 digits of the job's number>.<attempt>…``: how pilots name what they write.
_WRITTEN_BY_PILOT = re.compile(r"[0-9]{8}\.[0-9]+(?:\..+)?", re.ASCII | re.DOTALL)


def is_leftover(name: str) -> bool:
    """Has an unregistered file of this name been written by an attempt? Whatever else lies there belongs to somebody."""
    return _WRITTEN_BY_PILOT.fullmatch(name) is not None
