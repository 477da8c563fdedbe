"""How many requests a person may send in a minute, so that nobody's programs take the service away
from the others."""

import math
import time

from limits import RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import FixedWindowRateLimiter

from sluice.contracts.access import Role
from sluice.contracts.problems import ServiceError
from sluice.servicekit.access.principal import Person, Principal


class TooManyRequests(ServiceError):
    status, slug, title = 429, "too-many-requests", "Too many requests"

    def __init__(self, person: Person, most: int, seconds: int) -> None:
        super().__init__(
            f"{person.name} has sent {most} requests within a minute, which is the most: wait"
            f" {seconds} s (SLUICE_REQUESTS_A_MINUTE)",
            seconds=seconds,
        )


class RequestRate:
    """Counted in the memory of this process: each instance has a count of its own. ``most``: in a
    minute, of one person; 0: any number. Administrators are not counted."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._item = RateLimitItemPerMinute(max(most, 1))
        self._limiter = FixedWindowRateLimiter(MemoryStorage())

    async def require(self, principal: Principal | None) -> None:
        """Raises ``TooManyRequests``."""
        if not self._most or not isinstance(principal, Person) or principal.role is Role.ADMIN:
            return
        if await self._limiter.hit(self._item, principal.name):
            return
        window = await self._limiter.get_window_stats(self._item, principal.name)
        seconds = max(1, math.ceil(window.reset_time - time.time()))
        raise TooManyRequests(principal, self._most, seconds)
