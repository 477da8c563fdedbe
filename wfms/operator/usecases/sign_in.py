"""Who somebody is who says a name and a password."""

import math
import time
from collections.abc import Awaitable, Callable
from ipaddress import ip_address, ip_network
from typing import TypeVar

import structlog
from cachetools import TTLCache
from limits import RateLimitItem, RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import MovingWindowRateLimiter

from sluice.contracts.people import is_name
from sluice.servicekit.access.principal import Person
from sluice.servicekit.audit.request import remote_now
from sluice.servicekit.audit.rows import note_told
from sluice.servicekit.database import Connection, Database
from wfms.operator.db.people import lock_person, password_of, person_with
from wfms.operator.domain.people_errors import TooManyTries, WrongPassword
from wfms.operator.usecases.passwords import Passwords

log = structlog.get_logger(__name__)

#: Wrong passwords in so many minutes: of a name from one address, of a name from all addresses
#: together, and of all names from one address.
OF_A_NAME = RateLimitItemPerMinute(10, 5)
OF_A_NAME_ANYWHERE = RateLimitItemPerMinute(100, 5)
OF_AN_ADDRESS = RateLimitItemPerMinute(300, 5)
#: Seconds for which a name that has signed in from an address does not wait for others there, as
#: behind a proxy, and how many such are remembered.
_REMEMBERED, _MOST_REMEMBERED = 7 * 24 * 3600, 10_000
#: Bits of an IPv6 address that one customer of a provider is given.
_IPV6_PREFIX = 64

BegunT = TypeVar("BegunT")


class SignInDesk:
    """Counts tries by name and address, so that wrong ones cost whoever sends them.

    The counts are in the memory of this process: each instance has its own, which a restart
    forgets.
    """

    def __init__(self, database: Database, passwords: Passwords) -> None:
        self._database = database
        self._passwords = passwords
        self._tries = MovingWindowRateLimiter(MemoryStorage())
        self._seen: TTLCache[tuple[str, str], bool] = TTLCache(_MOST_REMEMBERED, _REMEMBERED)

    async def sign_in(
        self,
        name: str,
        password: str,
        begin: Callable[[Connection, Person], Awaitable[BegunT]],
        *,
        does: str = "signs in by password",
    ) -> BegunT:
        """``does``: as it is noted. Precondition: none. Effect: what ``begin`` does, while nobody
        gives the person another password or disables him; a wrong password counts. Messages: none.
        Raises ``WrongPassword``, ``TooManyTries``.
        """
        name = name.strip().lower()
        if not is_name(name):
            raise WrongPassword()
        # Counted before it is looked at: many at a time are not more than one after the other.
        place = address_block(remote_now())
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
        await self._tries.clear(OF_A_NAME, name, place)
        self._seen[name, place] = True
        return begun[0]

    async def _count(self, name: str, place: str) -> None:
        """Whoever has to wait anyway counts for nobody else, and takes no memory."""
        limits: list[tuple[RateLimitItem, tuple[str, ...]]] = [
            (OF_A_NAME, (name, place)),
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
    """Return what stands for whoever asks from the address: of IPv6, the network of a customer."""
    try:
        known = ip_address(address)
    except ValueError:
        return address
    if known.version == 4:
        return str(known)
    if known.ipv4_mapped is not None:
        return str(known.ipv4_mapped)
    return str(ip_network((known, _IPV6_PREFIX), strict=False))
