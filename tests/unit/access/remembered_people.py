"""Keep people in memory for tests without a service that keeps them."""

import secrets

from sluice.contracts.common.problems import ServiceError, Unauthenticated
from sluice.servicekit.access.principal import Person, Principal


class TooManyPeople(ServiceError):
    status = 429


class RememberedPeople:
    """Accounts in memory. ``passwords`` is by name; an empty password means too many attempts."""

    def __init__(
        self, tokens: dict[str, Principal], passwords: dict[str, str] | None = None
    ) -> None:
        self._tokens = tokens
        self._passwords = passwords or {}
        self.sessions: dict[str, Person] = {}

    async def principal(self, token: str) -> Principal | None:
        return self._tokens.get(token)

    async def session_with_password(self, name: str, password: str) -> str:
        stored_password = self._passwords.get(name)
        if stored_password == "":
            raise TooManyPeople("wait")
        if stored_password is None or stored_password != password:
            raise Unauthenticated("no")
        people = (each for each in self._tokens.values() if isinstance(each, Person))
        return await self.begin_session(next(each for each in people if each.name == name))

    async def begin_session(self, person: Person, *, token: str = "") -> str:
        secret = secrets.token_urlsafe(8)
        self.sessions[secret] = person
        return secret

    async def in_session(self, secret: str) -> Person | None:
        return self.sessions.get(secret)

    async def end_session(self, secret: str) -> None:
        self.sessions.pop(secret, None)
