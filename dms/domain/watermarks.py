"""Watermarks of a storage: when it counts as filling."""

from sluice.contracts.data.datasets import Watermarks


def effective_capacity(capacity: int | None, *, used_bytes: int, free: float | None) -> int | None:
    """Return how many bytes a storage may hold; None if that is not known.

    This is its capacity or, without one, the used bytes plus those free on its file system.
    """
    if capacity is not None or free is None:
        return capacity
    return used_bytes + int(free)


def fills(used_bytes: int, marks: Watermarks, *, total: int | None, before: bool) -> bool:
    """Return whether a storage is filling: from the high watermark until it is below the low one.

    Args:
        used_bytes: Bytes on the storage.
        marks: The watermarks.
        total: Bytes that the storage may hold; if a mark needs it and it is None, the state stays.
        before: The storage was filling so far.
    """
    mark = marks.low if before else marks.high
    if mark <= 1 and total is None:
        return before
    return used_bytes >= to_bytes(mark, total)


def to_bytes(mark: float, total: int | None) -> float:
    """Return a watermark in bytes; a mark up to 1 is a share of ``total``."""
    return mark * total if mark <= 1 and total is not None else mark


def find_rejection_reason(marks: Watermarks, capacity: int | None, *, total: int | None) -> str:
    """Return why a storage cannot have these watermarks, as the end of a sentence; or "".

    Args:
        marks: The watermarks.
        capacity: Capacity of the storage in bytes, if one is set.
        total: Bytes that the storage may hold, by its capacity or its file system.
    """
    if total is None and (marks.low <= 1 or marks.high <= 1):
        return (
            "are shares of its capacity, which is not known: it was registered without a capacity,"
            " and its file system does not report its free space; give bytes"
        )
    low, high = to_bytes(marks.low, total), to_bytes(marks.high, total)
    if low >= high:
        return f"are the wrong way round: {low:.0f} bytes is not less than {high:.0f}"
    if capacity is not None and high > capacity:
        return f"cannot be reached: {high:.0f} bytes is more than its capacity of {capacity}"
    return ""
