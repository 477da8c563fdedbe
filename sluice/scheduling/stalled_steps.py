"""When to explain why a step has no running job. The module imports nothing slow."""

import re

#: The seconds without a running job of a step until the reason is shown, and between two checks.
LONG_WAIT = 3.0

_NUMBERS = re.compile(r"[0-9.]+")


def is_stalled(*, ready: int, leased: int, running: int) -> bool:
    """Return whether jobs are ready and none is leased or running."""
    return ready > 0 and leased + running == 0


def reason_in(sentence: str) -> str:
    """Return a sentence without its numbers, to compare reasons."""
    return _NUMBERS.sub("", sentence)
