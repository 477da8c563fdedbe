"""Password hashing with Argon2id (RFC 9106) and a constant-time check."""

import asyncio
import secrets

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

#: Concurrent hash computations. Each takes 64 MiB and one core for a while.
_AT_A_TIME = 2


class Passwords:
    """A password hasher with bounded concurrency."""

    def __init__(self) -> None:
        self._hasher = PasswordHasher()
        self._room = asyncio.Semaphore(_AT_A_TIME)
        self._nobodys: str | None = None

    async def hashed(self, password: str) -> str:
        """Return the hash of the password."""
        async with self._room:
            return await asyncio.to_thread(self._hasher.hash, password)

    async def is_right(self, password: str, kept: str | None) -> bool:
        """Return whether the password matches the stored hash.

        Without a hash the check fails after the same time, so the time does not reveal that
        there is no such account.
        """
        if kept is None:
            self._nobodys = self._nobodys or await self.hashed(secrets.token_urlsafe())
        async with self._room:
            right = await asyncio.to_thread(self._verified, kept or self._nobodys or "", password)
        return right and kept is not None

    def _verified(self, kept: str, password: str) -> bool:
        try:
            # The input may contain surrogates, which match no password.
            return self._hasher.verify(kept, password.encode(errors="surrogatepass"))
        except (Argon2Error, InvalidHashError):
            return False
