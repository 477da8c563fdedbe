"""How long to wait before the next try: the one formula of growing pauses."""

#: So often a pause grows at most: beyond it every pause is the longest, and no power overflows.
_MOST_STEPS = 100


def pause_after(failures: int, *, first: float, longest: float, factor: float = 2.0) -> float:
    """``min(first × factor^(failures - 1), longest)``, in the unit of ``first`` and ``longest``.
    ``failures``: how many came one after the other, from 1 on; there is no end to it."""
    return min(first * factor ** min(failures - 1, _MOST_STEPS), longest)
