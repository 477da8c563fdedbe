"""The reason for ranking tasks higher that free space on a storage.

The text stays the same while the reason holds, so that nothing is written again.
"""

from sluice.contracts.data.datasets import Storage


def describe_reason(storage: Storage) -> str:
    """Return the reason, with the storage's high watermark and since when it has been above it.

    For example "storage buffer, which has the chain's input, reached its high watermark (80 %
    of 1000 bytes) at …".
    """
    mark = "" if storage.marks is None else f" ({_mark(storage.marks.high, storage.capacity)})"
    since = "" if storage.filling_since is None else f" at {storage.filling_since:%F %T} UTC"
    return (
        f"storage {storage.name}, which has the chain's input, reached its high"
        f" watermark{mark}{since}"
    )


def _mark(mark: float, capacity: int | None) -> str:
    if mark > 1:
        return f"{mark:.0f} bytes"
    capacity_text = "its capacity" if capacity is None else f"{capacity} bytes"
    return f"{100 * mark:g} % of {capacity_text}"
