"""Accounts of people: the interface of the service that keeps them, and its remote client."""

from typing import Protocol

import httpx
from cachetools import TTLCache
from pydantic import SecretStr, ValidationError

from sluice.contracts.access.people import MAX_CLAIMED, TOKEN_PREFIX, TokenHolder, TokenQuestion
from sluice.contracts.common.problems import NotAvailable
from sluice.contracts.common.wording import first_fault
from sluice.servicekit.access.principal import Person, Principal
from sluice.text.os_errors import reason_of

#: Seconds for which the answer about a token is cached. A revoked token stays valid that long.
CACHE_SECONDS = 10
#: The number of tokens whose answers are cached.
_MAX_CACHED = 4096
#: The path that resolves tokens of people.
TOKEN_HOLDERS_PATH = "/api/v1/token-holders"  # noqa: S105 - a path


class People(Protocol):
    """An ``Authenticator`` of people's tokens that also handles passwords and sessions."""

    async def principal(self, token: str) -> Principal | None:
        """Return the principal that the token belongs to, or None for an unknown token."""

    async def session_with_password(self, name: str, password: str) -> str:
        """Begin a session with a password and return the session's secret.

        Raises:
            Unauthenticated: The name or the password is wrong.
            TooManySignInAttempts: Too many sign-ins have failed.
        """
        ...

    async def begin_session(self, person: Person, *, token: str = "") -> str:
        """Begin a session of a person who is already authenticated and return the session's secret.

        Args:
            person: The person.
            token: The token that authenticated the person. The session ends with it.
        """
        ...

    async def in_session(self, secret: str) -> Person | None:
        """Return the person of a session, or None if it does not exist or has ended."""
        ...

    async def end_session(self, secret: str) -> None:
        """End a session."""


class RemoteAccounts:
    """Authenticator that asks the service behind ``http`` about tokens of people."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http
        self._cache: TTLCache[str, Person | None] = TTLCache(_MAX_CACHED, CACHE_SECONDS)

    async def principal(self, token: str) -> Principal | None:
        """Return the person that the token belongs to, or None for an unknown token.

        Raises:
            NotAvailable: The service that keeps the accounts does not answer.
        """
        if not token.startswith(TOKEN_PREFIX) or len(token) > MAX_CLAIMED:
            return None
        try:
            return self._cache[token]
        except KeyError:
            person = self._cache[token] = await self._resolve(token)
            return person

    async def _resolve(self, token: str) -> Person | None:
        question = TokenQuestion(token=SecretStr(token)).model_dump_json()
        try:
            answer = await self._http.post(TOKEN_HOLDERS_PATH, content=question)
            holder = TokenHolder.model_validate_json(answer.raise_for_status().content)
        except (httpx.HTTPError, ValidationError) as error:
            why = first_fault(error) if isinstance(error, ValidationError) else reason_of(error)
            raise NotAvailable(
                f"the operator service cannot identify the owner of the token: {why}"
            ) from error
        if holder.name is None or holder.role is None:
            return None
        return Person(holder.name, holder.role, tuple(holder.groups))
