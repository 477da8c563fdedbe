"""Who somebody is who says a name and a password."""

import math
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog
from limits import RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import MovingWindowRateLimiter

from sluice.contracts.people import is_name
from sluice.servicekit.access.principal import Person
from sluice.servicekit.audit.rows import note_told
from sluice.servicekit.database import Connection, Database
from wfms.operator.db.people import lock_person, password_of, person_with
from wfms.operator.domain.people_errors import TooManyTries, WrongPassword
from wfms.operator.usecases.passwords import Passwords

log = structlog.get_logger(__name__)

#: Wrong passwords that a name takes in so many minutes, and all names together.
OF_A_NAME, OF_ALL = RateLimitItemPerMinute(10, 5), RateLimitItemPerMinute(300, 5)
_EVERYBODY = "everybody"

BegunT = TypeVar("BegunT")


class SignInDesk:
    """Tries are counted in the memory of this process: each instance has a count of its own, which
    a restart forgets."""

    def __init__(self, database: Database, passwords: Passwords) -> None:
        self._database = database
        self._passwords = passwords
        self._tries = MovingWindowRateLimiter(MemoryStorage())

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
        Raises ``WrongPassword``, ``TooManyTries``."""
        name = name.strip().lower()
        if not is_name(name):
            raise WrongPassword()
        # Counted before it is looked at: many at a time are not more than one after the other.
        await self._count(name)
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
        await self._tries.clear(OF_A_NAME, name)
        return begun[0]

    async def _count(self, name: str) -> None:
        """Whoever has to wait anyway counts for nobody else, and takes no memory."""
        for limit, whose, count in (
            (OF_A_NAME, name, self._tries.test),
            (OF_ALL, _EVERYBODY, self._tries.hit),
            (OF_A_NAME, name, self._tries.hit),
        ):
            if not await count(limit, whose):
                window = await self._tries.get_window_stats(limit, whose)
                raise TooManyTries(max(1, math.ceil(window.reset_time - time.time())))
