"""How long work on a data set rests after a storage failed."""


def pause_after(failures: int, *, longest: float) -> float:
    """Seconds: 1, 2, 4 … up to ``longest``, for ever. ``failures``: how many came one after the
    other, from 1."""
    return min(2.0 ** min(failures - 1, 30), longest)
