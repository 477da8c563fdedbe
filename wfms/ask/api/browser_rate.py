"""Rate limits for browsers."""

import math
import time

from limits import RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import FixedWindowRateLimiter

from sluice.contracts.common.problems import ServiceError


class RequestRateExceeded(ServiceError):
    """A browser or an address sends requests too often."""

    status, slug, title = 429, "too-many-requests", "Too many requests"

    def __init__(self, seconds: int) -> None:
        super().__init__(f"too many requests: try again in {seconds} s", seconds=seconds)


class BrowserRate:
    """Limits on requests a minute.

    They are counted in the memory of this process: each instance counts on its own.

    Args:
        requests: Requests of one browser; 0: any number.
        newcomers: New browsers of one address; 0: any number.
    """

    def __init__(self, *, requests: int, newcomers: int) -> None:
        self._requests, self._newcomers = requests, newcomers
        self._limiter = FixedWindowRateLimiter(MemoryStorage())

    async def require_browser(self, token: str) -> None:
        """Count a request of a browser.

        Raises:
            RequestRateExceeded: The browser has used up its requests.
        """
        await self._require(self._requests, "browser", token)

    async def require_address(self, address: str) -> None:
        """Count a new browser of an address.

        Raises:
            RequestRateExceeded: The address has used up its new browsers.
        """
        await self._require(self._newcomers, "address", address)

    async def _require(self, limit: int, kind: str, client: str) -> None:
        if not limit:
            return
        item = RateLimitItemPerMinute(limit)
        if not await self._limiter.hit(item, kind, client):
            window = await self._limiter.get_window_stats(item, kind, client)
            raise RequestRateExceeded(max(1, math.ceil(window.reset_time - time.time())))
