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
        self._slots = asyncio.Semaphore(_AT_A_TIME)
        self._dummy_hash: str | None = None

    async def hash_password(self, password: str) -> str:
        """Return the hash of the password."""
        async with self._slots:
            return await asyncio.to_thread(self._hasher.hash, password)

    async def is_right(self, password: str, stored_hash: str | None) -> bool:
        """Return whether the password matches the stored hash.

        Without a hash the check fails after the same time, so the time does not reveal that
        there is no such account.
        """
        if stored_hash is None:
            self._dummy_hash = self._dummy_hash or await self.hash_password(secrets.token_urlsafe())
        async with self._slots:
            right = await asyncio.to_thread(
                self._verify, stored_hash or self._dummy_hash or "", password
            )
        return right and stored_hash is not None

    def _verify(self, stored_hash: str, password: str) -> bool:
        try:
            # The input may contain surrogates, which match no password.
            return self._hasher.verify(stored_hash, password.encode(errors="surrogatepass"))
        except (Argon2Error, InvalidHashError):
            return False
