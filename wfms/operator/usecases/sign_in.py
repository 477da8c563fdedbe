"""Who somebody is who says a name and a password."""

import math
import time

import structlog
from limits import RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import MovingWindowRateLimiter

from sluice.contracts.people import is_name
from sluice.servicekit.access.principal import Person
from sluice.servicekit.database import Database
from wfms.operator.db.people import password_of, person_called
from wfms.operator.domain.people_errors import TooManyTries, WrongPassword
from wfms.operator.usecases.passwords import Passwords

log = structlog.get_logger(__name__)

#: Wrong passwords that a name takes in so many minutes, and all names together.
OF_A_NAME, OF_ALL = RateLimitItemPerMinute(10, 5), RateLimitItemPerMinute(300, 5)
_EVERYBODY = "everybody"


class SignInDesk:
    """Tries are counted in the memory of this process: each instance has a count of its own, which
    a restart forgets."""

    def __init__(self, database: Database, passwords: Passwords) -> None:
        self._database = database
        self._passwords = passwords
        self._tries = MovingWindowRateLimiter(MemoryStorage())

    async def person(self, name: str, password: str) -> Person:
        """Precondition: none. Effect: a wrong password counts. Messages: none. Raises
        ``WrongPassword``, ``TooManyTries``."""
        name = name.strip().lower()
        if not is_name(name):
            raise WrongPassword()
        # Counted before it is looked at: many at a time are not more than one after the other.
        await self._count(name)
        async with self._database.connection() as connection:
            kept = await password_of(connection, name)
            account = await person_called(connection, name)
        if not await self._passwords.is_right(password, kept) or account is None:
            log.warning("person.wrong_password", person=name)
            raise WrongPassword()
        await self._tries.clear(OF_A_NAME, name)
        return Person(account.name, account.role)

    async def _count(self, name: str) -> None:
        for limit, whose in ((OF_ALL, _EVERYBODY), (OF_A_NAME, name)):
            if not await self._tries.hit(limit, whose):
                window = await self._tries.get_window_stats(limit, whose)
                raise TooManyTries(max(1, math.ceil(window.reset_time - time.time())))
