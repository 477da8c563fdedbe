"""Backoff: the formula of growing pauses between attempts."""

#: The number of failures from which on the power stays the same, so that it does not overflow.
_MAX_STEPS = 100


def pause_after(failures: int, *, first: float, max_pause: float, factor: float = 2.0) -> float:
    """Return ``min(first × factor^(failures - 1), longest)``.

    Args:
        failures: The number of failures in a row, from 1.
        first: The first pause.
        max_pause: The longest pause, in the same unit.
        factor: The growth.
    """
    return min(first * factor ** min(failures - 1, _MAX_STEPS), max_pause)
