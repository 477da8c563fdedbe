"""Steps of which no job is at work: when people are told why. It imports nothing that takes time to
load."""

import re

#: Seconds without any job of a step at work, after which people are told why, and between two such
#: looks.
LONG_WAIT = 3.0

_NUMBERS = re.compile(r"[0-9.]+")


def is_stalled(*, ready: int, leased: int, running: int) -> bool:
    """Could jobs run, and none does?"""
    return ready > 0 and leased + running == 0


def reason_in(sentence: str) -> str:
    """What makes it another reason than the last one: not the numbers in it."""
    return _NUMBERS.sub("", sentence)
