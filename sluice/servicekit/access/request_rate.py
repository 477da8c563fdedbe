"""Limits on the requests of one person or pilot, so that one client cannot starve the others."""

import math
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from limits import RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import FixedWindowRateLimiter

from sluice.contracts.access.access import Role
from sluice.contracts.common.problems import ServiceError
from sluice.servicekit.access.principal import Person, PilotCaller, Principal

#: The number of requests of one person or pilot that are answered at the same time. A request is
#: open until its client has read the answer, and a pilot waits up to a minute for jobs. The limit
#: exceeds the 100 connections that Sluice's own clients open.
MAX_CONCURRENT = 120


class TooManyRequests(ServiceError):
    """A person has sent too many requests within a minute."""

    status, slug, title = 429, "too-many-requests", "Too many requests"

    def __init__(self, person: Person, limit: int, seconds: int) -> None:
        super().__init__(
            f"{person.name} has sent {limit} requests within a minute, the maximum: wait {seconds}"
            " s (SLUICE_REQUESTS_A_MINUTE)",
            seconds=seconds,
        )


class TooManyConcurrentRequests(ServiceError):
    """A person or pilot has too many open requests."""

    status, slug, title = TooManyRequests.status, TooManyRequests.slug, TooManyRequests.title

    def __init__(self, principal: Principal) -> None:
        super().__init__(
            f"{principal} has {MAX_CONCURRENT} concurrent requests, the maximum: wait until one of"
            " them has ended, and read its answer to the end",
        )


class RequestsAtOnce:
    """A counter of the open requests of each person and pilot in this process.

    Administrators, services and pilots that register are not counted.
    """

    def __init__(self) -> None:
        self._under_way = Counter[Principal]()

    @contextmanager
    def one_more(self, principal: Principal | None) -> Iterator[None]:
        """Count a request while it is answered.

        Raises:
            TooManyConcurrentRequests: The principal has the maximum number of open requests.
        """
        match principal:
            case Person() if principal.role is not Role.ADMIN:
                key: Principal = Person(principal.name, Role.VIEWER)
            case PilotCaller() if principal.uid is not None:
                key = principal
            case _:
                yield
                return
        if self._under_way[key] >= MAX_CONCURRENT:
            raise TooManyConcurrentRequests(principal)
        self._under_way[key] += 1
        try:
            yield
        finally:
            self._under_way[key] -= 1
            if not self._under_way[key]:
                del self._under_way[key]


class RequestRate:
    """A limit on the requests that a person sends in a minute.

    The count is kept in memory, so each instance of a service counts separately. Administrators are
    not counted. ``limit`` is the limit for one person; 0: no limit.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._item = RateLimitItemPerMinute(max(limit, 1))
        self._limiter = FixedWindowRateLimiter(MemoryStorage())

    async def require(self, principal: Principal | None) -> None:
        """Count a request of a principal.

        Raises:
            TooManyRequests: The person has reached the limit.
        """
        if not self._limit or not isinstance(principal, Person) or principal.role is Role.ADMIN:
            return
        if await self._limiter.hit(self._item, principal.name):
            return
        window = await self._limiter.get_window_stats(self._item, principal.name)
        seconds = max(1, math.ceil(window.reset_time - time.time()))
        raise TooManyRequests(principal, self._limit, seconds)
