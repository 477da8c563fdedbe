"""Sign-in by name and password, with rate limits."""

import math
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from ipaddress import ip_address, ip_network
from typing import TypeVar

import structlog
from cachetools import TTLCache
from limits import RateLimitItem, RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import MovingWindowRateLimiter

from sluice.contracts.access.people import is_name
from sluice.servicekit.access.principal import Person
from sluice.servicekit.audit.request import current_address
from sluice.servicekit.audit.rows import record_unauthenticated_request
from sluice.servicekit.database import Connection, Database
from wfms.operator.identity.db.people import find_password_hash, lock_person, to_person
from wfms.operator.identity.domain.errors import TooManySignInAttempts, WrongPassword
from wfms.operator.identity.usecases.passwords import Passwords

log = structlog.get_logger(__name__)

#: Wrong passwords in five minutes: of a name from one address, of a name from all addresses, and
#: of all names from one address.
NAME_LIMIT = RateLimitItemPerMinute(10, 5)
NAME_LIMIT_ANYWHERE = RateLimitItemPerMinute(100, 5)
ADDRESS_LIMIT = RateLimitItemPerMinute(300, 5)
#: Attempts from one address that are checked at the same time. Each takes a thread and a core.
MAX_CONCURRENT_OF_ADDRESS = 4
#: Seconds for which a name that signed in from an address is exempt from the limit of the
#: address, for people behind a proxy; and the number of such pairs that are remembered.
_REMEMBERED, _MAX_REMEMBERED = 7 * 24 * 3600, 10_000
#: Bits of the IPv6 prefix that a provider assigns to one customer.
_IPV6_PREFIX = 64

ResultT = TypeVar("ResultT")


class PasswordSignIn:
    """Sign-in with rate limits by name and address.

    The counts are in the memory of this process. Each instance counts separately, and a restart
    resets the counts.
    """

    def __init__(self, database: Database, passwords: Passwords) -> None:
        self._database = database
        self._passwords = passwords
        self._tries = MovingWindowRateLimiter(MemoryStorage())
        #: The number of sign-ins of a name from an address.
        self._sign_in_counts: TTLCache[tuple[str, str], int] = TTLCache(
            _MAX_REMEMBERED, _REMEMBERED
        )
        self._under_way: Counter[str] = Counter()

    async def sign_in(
        self,
        name: str,
        password: str,
        begin: Callable[[Connection, Person], Awaitable[ResultT]],
        *,
        action: str = "signs in by password",
    ) -> ResultT:
        """Check a password and call ``begin`` for the person.

        The account is locked until ``begin`` returns. A wrong password counts towards the limits.

        Args:
            name: The name of the account.
            password: The password.
            begin: The action for the person, in the transaction that locks the account.
            action: The action in the audit log.

        Raises:
            WrongPassword: The name or the password is wrong.
            TooManySignInAttempts: A rate limit is exceeded.
        """
        name = name.strip().lower()
        if not is_name(name):
            raise WrongPassword()
        place = address_block(current_address())
        with self._one_more(name, place):
            # Count before the check, so that concurrent attempts cannot exceed the limits.
            await self._count(name, place)
            async with self._database.connection() as connection:
                stored_hash = await find_password_hash(connection, name)
            right = await self._passwords.is_right(password, stored_hash)
        results: list[ResultT] = []
        async with self._database.transaction() as transaction:
            connection = transaction.connection
            account = (
                await lock_person(connection, name, password=stored_hash or "") if right else None
            )
            if account is None:
                await record_unauthenticated_request(
                    connection, name, action, outcome=WrongPassword.status
                )
            else:
                await record_unauthenticated_request(connection, name, action, role=account.role)
                results.append(await begin(connection, to_person(account)))
        if not results:
            log.warning("person.wrong_password", person=name)
            raise WrongPassword()
        self._sign_in_counts[name, place] = self._sign_in_counts.get((name, place), 0) + 1
        return results[0]

    @contextmanager
    def _one_more(self, name: str, place: str) -> Iterator[None]:
        """Limit the attempts of one address that are checked at the same time."""
        if (
            self._under_way[place] >= MAX_CONCURRENT_OF_ADDRESS
            and (name, place) not in self._sign_in_counts
        ):
            raise TooManySignInAttempts(1)
        self._under_way[place] += 1
        try:
            yield
        finally:
            self._under_way[place] -= 1
            self._under_way += Counter()  # forgets addresses without attempts

    async def _count(self, name: str, place: str) -> None:
        """Count an attempt; a rejected attempt counts towards no limit and needs no memory.

        The limit of a name from an address starts again after each sign-in: its key contains their
        number. The library cannot clear a key while its own clean-up runs.
        """
        limits: list[tuple[RateLimitItem, tuple[str, ...]]] = [
            (NAME_LIMIT, (name, place, str(self._sign_in_counts.get((name, place), 0)))),
            (NAME_LIMIT_ANYWHERE, (name,)),
        ]
        if (name, place) not in self._sign_in_counts:
            limits.append((ADDRESS_LIMIT, (place,)))
        for count in (self._tries.test, self._tries.hit):
            for limit, key in limits:
                if not await count(limit, *key):
                    window = await self._tries.get_window_stats(limit, *key)
                    raise TooManySignInAttempts(max(1, math.ceil(window.reset_time - time.time())))


def address_block(address: str) -> str:
    """Return the key of an address for rate limits: for IPv6, the network of a customer."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if parsed.version == 4:
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ip_network((parsed, _IPV6_PREFIX), strict=False))
