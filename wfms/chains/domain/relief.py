"""The reason given for ranking tasks higher that make room on a storage: the same words while that
lasts, so that nothing is written anew."""

from sluice.contracts.datasets import Storage


def reason_of(storage: Storage) -> str:
    """``storage buffer, on which the chain's input lies, reached its high water mark (80 % of 1000
    bytes) at …``."""
    mark = "" if storage.marks is None else f" ({_mark(storage.marks.high, storage.capacity)})"
    since = "" if storage.filling_since is None else f" at {storage.filling_since:%F %T} UTC"
    return (
        f"storage {storage.name}, on which the chain's input lies, reached its high water"
        f" mark{mark}{since}"
    )


def _mark(mark: float, capacity: int | None) -> str:
    if mark > 1:
        return f"{mark:.0f} bytes"
    most = "what it may hold" if capacity is None else f"{capacity} bytes"
    return f"{100 * mark:g} % of {most}"
