"""Water marks of a storage: when it counts as filling."""

from sluice.contracts.datasets import WaterMarks


def fills(used: int, marks: WaterMarks, capacity: int | None, *, before: bool) -> bool:
    """From the high mark on, until it is below the low one. ``before``: did it so far?"""
    mark = bytes_of(marks.low if before else marks.high, capacity)
    return used >= mark


def bytes_of(mark: float, capacity: int | None) -> float:
    return mark * capacity if mark <= 1 and capacity is not None else mark


def objection(marks: WaterMarks, capacity: int | None) -> str:
    """Why a storage of this capacity cannot have them, the end of a sentence; empty where it can."""
    if capacity is None and (marks.low <= 1 or marks.high <= 1):
        return "are shares of its capacity, and it has none: give bytes"
    low, high = bytes_of(marks.low, capacity), bytes_of(marks.high, capacity)
    if low >= high:
        return f"are the wrong way round: {low:.0f} bytes is no less than {high:.0f}"
    if capacity is not None and high > capacity:
        return f"cannot be reached: {high:.0f} bytes, and it holds {capacity}"
    return ""
