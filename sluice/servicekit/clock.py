"""The clock as an argument, so that everything that depends on time can be tested with another
one."""

from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """Present time in UTC, with its zone."""
        ...


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)
