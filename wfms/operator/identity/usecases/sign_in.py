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
from sluice.servicekit.audit.request import remote_now
from sluice.servicekit.audit.rows import note_told
from sluice.servicekit.database import Connection, Database
from wfms.operator.identity.db.people import lock_person, password_of, person_with
from wfms.operator.identity.domain.errors import TooManyTries, WrongPassword
from wfms.operator.identity.usecases.passwords import Passwords

log = structlog.get_logger(__name__)

#: Wrong passwords in five minutes: of a name from one address, of a name from all addresses, and
#: of all names from one address.
OF_A_NAME = RateLimitItemPerMinute(10, 5)
OF_A_NAME_ANYWHERE = RateLimitItemPerMinute(100, 5)
OF_AN_ADDRESS = RateLimitItemPerMinute(300, 5)
#: Attempts from one address that are checked at the same time. Each takes a thread and a core.
AT_ONCE_OF_AN_ADDRESS = 4
#: Seconds for which a name that signed in from an address is exempt from the limit of the
#: address, for people behind a proxy; and the number of such pairs that are remembered.
_REMEMBERED, _MAX_REMEMBERED = 7 * 24 * 3600, 10_000
#: Bits of the IPv6 prefix that a provider assigns to one customer.
_IPV6_PREFIX = 64

BegunT = TypeVar("BegunT")


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
        self._seen: TTLCache[tuple[str, str], int] = TTLCache(_MAX_REMEMBERED, _REMEMBERED)
        self._under_way: Counter[str] = Counter()

    async def sign_in(
        self,
        name: str,
        password: str,
        begin: Callable[[Connection, Person], Awaitable[BegunT]],
        *,
        does: str = "signs in by password",
    ) -> BegunT:
        """Check a password and call ``begin`` for the person.

        The account is locked until ``begin`` returns. A wrong password counts towards the limits.

        Args:
            name: The name of the account.
            password: The password.
            begin: What to do for the person, in the transaction that locks the account.
            does: The action in the audit log.

        Raises:
            WrongPassword: The name or the password is wrong.
            TooManyTries: A rate limit is exceeded.
        """
        name = name.strip().lower()
        if not is_name(name):
            raise WrongPassword()
        place = address_block(remote_now())
        with self._one_more(name, place):
            # Count before the check, so that concurrent attempts cannot exceed the limits.
            await self._count(name, place)
            async with self._database.connection() as connection:
                kept = await password_of(connection, name)
            right = await self._passwords.is_right(password, kept)
        begun: list[BegunT] = []
        async with self._database.transaction() as transaction:
            connection = transaction.connection
            account = await lock_person(connection, name, password=kept or "") if right else None
            if account is None:
                await note_told(connection, name, does, outcome=WrongPassword.status)
            else:
                await note_told(connection, name, does, role=account.role)
                begun.append(await begin(connection, person_with(account)))
        if not begun:
            log.warning("person.wrong_password", person=name)
            raise WrongPassword()
        self._seen[name, place] = self._seen.get((name, place), 0) + 1
        return begun[0]

    @contextmanager
    def _one_more(self, name: str, place: str) -> Iterator[None]:
        """Limit the attempts of one address that are checked at the same time."""
        if self._under_way[place] >= AT_ONCE_OF_AN_ADDRESS and (name, place) not in self._seen:
            raise TooManyTries(1)
        self._under_way[place] += 1
        try:
            yield
        finally:
            self._under_way[place] -= 1
            self._under_way += Counter()  # forgets addresses without attempts

    async def _count(self, name: str, place: str) -> None:
        """Count an attempt; a rejected attempt counts towards no limit and needs no memory.

        The limit of a name from an address starts anew after each sign-in: its key contains their
        number. The library cannot clear a key while its own clean-up runs.
        """
        limits: list[tuple[RateLimitItem, tuple[str, ...]]] = [
            (OF_A_NAME, (name, place, str(self._seen.get((name, place), 0)))),
            (OF_A_NAME_ANYWHERE, (name,)),
        ]
        if (name, place) not in self._seen:
            limits.append((OF_AN_ADDRESS, (place,)))
        for count in (self._tries.test, self._tries.hit):
            for limit, whose in limits:
                if not await count(limit, *whose):
                    window = await self._tries.get_window_stats(limit, *whose)
                    raise TooManyTries(max(1, math.ceil(window.reset_time - time.time())))


def address_block(address: str) -> str:
    """Return the key of an address for rate limits: for IPv6, the network of a customer."""
    try:
        known = ip_address(address)
    except ValueError:
        return address
    if known.version == 4:
        return str(known)
    if known.ipv4_mapped is not None:
        return str(known.ipv4_mapped)
    return str(ip_network((known, _IPV6_PREFIX), strict=False))
