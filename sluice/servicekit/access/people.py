"""Where people are known: what a service that keeps their accounts does for all of them, and how
the others ask it."""

from typing import Protocol

import httpx
from cachetools import TTLCache
from pydantic import SecretStr, ValidationError

from sluice.contracts.people import MOST_CLAIMED, TOKEN_PREFIX, TokenHolder, TokenQuestion
from sluice.contracts.problems import NotAvailable
from sluice.contracts.wording import first_fault
from sluice.os_errors import reason_of
from sluice.servicekit.access.principal import Person, Principal

#: Seconds for which an answer about a token is taken for true: a revoked one may last so long.
REMEMBERED = 10
#: Tokens whose answers are remembered.
_MOST = 4096
#: Where a service asks whose a token is.
WHOSE = "/api/v1/token-holders"


class People(Protocol):
    """An ``Authenticator`` of their tokens, with passwords and sessions."""

    async def principal(self, token: str) -> Principal | None: ...

    async def session_with_password(self, name: str, password: str) -> str:
        """What the person's browser says from now on. Raises ``Unauthenticated``, and
        ``TooManyTries``."""
        ...

    async def begin_session(self, person: Person, *, token: str = "") -> str:
        """The same, for whom somebody else knows. ``token``: by which he is known here; the session
        is over when it is."""
        ...

    async def in_session(self, secret: str) -> Person | None:
        """None: nobody's session, or one that is over."""
        ...

    async def end_session(self, secret: str) -> None: ...


class AskedPeople:
    """Authenticator: tokens of people, of whom the service behind ``http`` knows."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http
        self._known: TTLCache[str, Person | None] = TTLCache(_MOST, REMEMBERED)

    async def principal(self, token: str) -> Principal | None:
        """Raises ``NotAvailable`` where nobody can be asked."""
        if not token.startswith(TOKEN_PREFIX) or len(token) > MOST_CLAIMED:
            return None
        try:
            return self._known[token]
        except KeyError:
            found = self._known[token] = await self._asked(token)
            return found

    async def _asked(self, token: str) -> Person | None:
        question = TokenQuestion(token=SecretStr(token)).model_dump_json()
        try:
            answer = await self._http.post(WHOSE, content=question)
            holder = TokenHolder.model_validate_json(answer.raise_for_status().content)
        except (httpx.HTTPError, ValidationError) as error:
            why = first_fault(error) if isinstance(error, ValidationError) else reason_of(error)
            raise NotAvailable(
                f"the service that knows people does not say whose the token is: {why}"
            ) from error
        if holder.name is None or holder.role is None:
            return None
        return Person(holder.name, holder.role, tuple(holder.groups))
