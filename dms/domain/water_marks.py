"""Water marks of a storage: when it counts as filling."""

from sluice.contracts.datasets import WaterMarks


def held(capacity: int | None, *, used: int, free: float | None) -> int | None:
    """Bytes that a storage may hold: its capacity; without one, what lies on it and what is
    ``free`` on its file system, where that is known."""
    if capacity is not None or free is None:
        return capacity
    return used + int(free)


def fills(used: int, marks: WaterMarks, *, most: int | None, before: bool) -> bool:
    """From the high mark on, until it is below the low one; as it was where that cannot be told.
    ``most``: bytes that it may hold. ``before``: did it so far?"""
    mark = marks.low if before else marks.high
    if mark <= 1 and most is None:
        return before
    return used >= bytes_of(mark, most)


def bytes_of(mark: float, most: int | None) -> float:
    return mark * most if mark <= 1 and most is not None else mark


def marks_objection(marks: WaterMarks, capacity: int | None, *, most: int | None) -> str:
    """Why a storage cannot have them, the end of a sentence; empty where it can. ``most``: bytes
    that it may hold, by its capacity or its file system."""
    if most is None and (marks.low <= 1 or marks.high <= 1):
        return (
            "are shares of what it may hold, and that is not known: it was registered without a"
            " capacity, and its file system does not say what is free; give bytes"
        )
    low, high = bytes_of(marks.low, most), bytes_of(marks.high, most)
    if low >= high:
        return f"are the wrong way round: {low:.0f} bytes is no less than {high:.0f}"
    if capacity is not None and high > capacity:
        return f"cannot be reached: {high:.0f} bytes, and it holds {capacity}"
    return ""
