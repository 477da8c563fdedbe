"""Passwords: hashed by Argon2id (RFC 9106), and compared in a time that tells nothing."""

import asyncio
import secrets

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

#: Passwords that are worked on at a time: each takes 64 MiB, and a core for a while.
_AT_A_TIME = 2


class Passwords:
    def __init__(self) -> None:
        self._hasher = PasswordHasher()
        self._room = asyncio.Semaphore(_AT_A_TIME)
        self._nobodys: str | None = None

    async def hashed(self, password: str) -> str:
        async with self._room:
            return await asyncio.to_thread(self._hasher.hash, password)

    async def is_right(self, password: str, kept: str | None) -> bool:
        """``kept``: as it was hashed; None: nobody's, which takes as long."""
        if kept is None:
            self._nobodys = self._nobodys or await self.hashed(secrets.token_urlsafe())
        async with self._room:
            right = await asyncio.to_thread(self._verified, kept or self._nobodys or "", password)
        return right and kept is not None

    def _verified(self, kept: str, password: str) -> bool:
        try:
            # Whatever is sent: what is no text is nobody's password.
            return self._hasher.verify(kept, password.encode(errors="surrogatepass"))
        except (Argon2Error, InvalidHashError):
            return False
