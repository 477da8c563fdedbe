"""Who may ask an embedded system: whoever can read its token, and pilots that can read theirs."""

import getpass
import secrets
from collections.abc import Iterable

from starlette.types import ASGIApp

from sluice.contracts.access import Role
from sluice.credentials import forget_token, keep_token
from sluice.embedded.home import Home
from sluice.embedded.services import kept, session_key
from sluice.servicekit.access.authentication import Authentication, Authenticator
from sluice.servicekit.access.principal import Person, PilotCaller
from sluice.servicekit.access.sessions import Sessions
from sluice.servicekit.access.sign_in import SignIn
from sluice.servicekit.access.tokens import AnyOf, FixedTokens


class Access:
    """Component, once it is known ``at`` which address the system answers: until it stops, those of
    this user who ask there find the token."""

    def __init__(self, home: Home) -> None:
        """Makes the tokens where there are none. Raises ``OSError``."""
        self._token = kept(home.token, secrets.token_urlsafe(32))
        self._pilot_token = kept(home.pilot_token, secrets.token_urlsafe(32))
        self._sessions = Sessions(session_key(home))
        self._url = ""

    def guard(self, app: ASGIApp, others: Iterable[Authenticator]) -> ASGIApp:
        """``others``: of tokens that the services give."""
        known = FixedTokens(
            {self._token: Person(_user(), Role.ADMIN), self._pilot_token: PilotCaller()}
        )
        asked = Authentication(app, AnyOf([known, *others]), self._sessions)
        return SignIn(asked, known, self._sessions)

    def at(self, url: str) -> "Access":
        self._url = url
        return self

    async def start(self) -> None:
        keep_token(self._url, self._token)

    async def stop(self) -> None:
        forget_token(self._url, self._token)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a number without a name
        return "owner"
