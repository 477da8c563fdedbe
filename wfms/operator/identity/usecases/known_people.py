"""Authentication of people by tokens, passwords and sessions, for every service."""

import math
import secrets
import time

from limits import RateLimitItemPerDay, RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import FixedWindowRateLimiter

from sluice.contracts.access.people import TOKEN_PREFIX
from sluice.servicekit.access.principal import Person, Principal
from sluice.servicekit.access.sessions import LIFE
from sluice.servicekit.access.tokens import FixedTokens
from sluice.servicekit.audit.rows import record_unauthenticated_request
from sluice.servicekit.database import Connection, Database
from wfms.operator.identity.db import person_tokens
from wfms.operator.identity.domain.errors import TooManySignIns
from wfms.operator.identity.usecases.sign_in import PasswordSignIn

#: Sessions that a person may begin in five minutes and in a day.
SESSION_LIMITS = (RateLimitItemPerMinute(300, 5), RateLimitItemPerDay(2000))


class AccountAuthenticator:
    """People who authenticate by tokens, passwords and sessions.

    Tokens from the settings are accepted besides those in the database.
    """

    def __init__(
        self, database: Database, password_sign_in: PasswordSignIn, fixed_tokens: FixedTokens
    ) -> None:
        self._database = database
        self._password_sign_in = password_sign_in
        self._fixed_tokens = fixed_tokens
        self._counts = FixedWindowRateLimiter(MemoryStorage())

    async def principal(self, token: str) -> Principal | None:
        """Return the principal that holds the token, or None."""
        if not token.startswith(TOKEN_PREFIX):
            return None
        return await self._fixed_tokens.principal(token) or await self._find_holder(token)

    async def session_with_password(self, name: str, password: str) -> str:
        """Begin a session of the person who has the password, and return its secret.

        Raises:
            WrongPassword: The name or the password is wrong.
            TooManySignInAttempts: There were too many wrong attempts.
            TooManySignIns: The person has begun too many sessions.
        """
        return await self._password_sign_in.sign_in(name, password, self._begin)

    async def begin_session(self, person: Person, *, token: str = "") -> str:
        """Begin a session of an authenticated person and return its secret."""
        await self._count(person)
        async with self._database.transaction() as transaction:
            action = "signs in by a token" if token else "signs in by the provider"
            await record_unauthenticated_request(
                transaction.connection, person.name, action, role=person.role
            )
            return await _insert_session(transaction.connection, person, token=token)

    async def in_session(self, secret: str) -> Person | None:
        """Return the person of the session, or None."""
        async with self._database.connection() as connection:
            return await person_tokens.find_person_by_session(connection, secret)

    async def end_session(self, secret: str) -> None:
        """End the session."""
        async with self._database.transaction() as transaction:
            person = await person_tokens.end_session(transaction.connection, secret)
            if person is not None:
                await record_unauthenticated_request(transaction.connection, person, "signs out")

    async def _begin(self, connection: Connection, person: Person) -> str:
        await self._count(person)
        return await _insert_session(connection, person)

    async def _count(self, person: Person) -> None:
        """Count a session of the person, because each session has rows that are kept for long.

        Raises:
            TooManySignIns: The person has begun too many sessions.
        """
        for limit in SESSION_LIMITS:
            if not await self._counts.hit(limit, person.name):
                window = await self._counts.get_window_stats(limit, person.name)
                raise TooManySignIns(max(1, math.ceil(window.reset_time - time.time())))

    async def _find_holder(self, token: str) -> Person | None:
        async with self._database.connection() as connection:
            return await person_tokens.find_token_holder(connection, token)


async def _insert_session(connection: Connection, person: Person, *, token: str = "") -> str:
    """Begin a session, which ends with ``token`` if it was begun by one."""
    secret = secrets.token_urlsafe(32)
    await person_tokens.forget_ended_sessions(connection)
    await person_tokens.begin_session(connection, person, secret=secret, life=LIFE, token=token)
    return secret
