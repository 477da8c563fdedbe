"""A line of the list of storages: whether a storage accepts new data, and how full it is."""

from dataclasses import dataclass

from sluice.contracts.common.numbers import size_text
from sluice.contracts.data.datasets import Storage


@dataclass(frozen=True, slots=True)
class StorageLine:
    """A storage as a line of the list."""

    storage: Storage

    @property
    def state(self) -> str:
        """The state in a word."""
        if not self.storage.enabled:
            return "disabled"
        if not self.storage.in_use:
            return "refused"
        return "enabled" if self.storage.full is None else "full"

    @property
    def total(self) -> int | None:
        """The bytes that the storage may hold, or None if they are unlimited or not known."""
        if self.storage.capacity is not None or self.storage.free is None:
            return self.storage.capacity
        return self.storage.used + self.storage.free

    @property
    def share(self) -> float | None:
        """The used part in per cent, at most 100."""
        return None if not self.total else min(100.0, 100 * self.storage.used / self.total)

    @property
    def marks(self) -> list[tuple[str, float | None]]:
        """The low and the high watermark, in words and in per cent of the capacity."""
        watermarks = self.storage.marks
        return (
            []
            if watermarks is None
            else [
                (_mark_text(mark), self._compute_place(mark))
                for mark in (watermarks.low, watermarks.high)
            ]
        )

    def _compute_place(self, mark: float) -> float | None:
        if mark <= 1:
            return 100 * mark
        return None if not self.total else min(100.0, 100 * mark / self.total)


def _mark_text(mark: float) -> str:
    return f"{100 * mark:g} %" if mark <= 1 else size_text(mark)
