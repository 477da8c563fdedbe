"""Who may ask an embedded system: whoever can read its token, and pilots that can read theirs."""

import getpass
import hashlib
import secrets
from collections.abc import Iterable
from contextlib import suppress

from starlette.types import ASGIApp

from sluice.contracts.access import Role
from sluice.credentials import forget_token, keep_token
from sluice.embedded.home import Home
from sluice.embedded.services import kept
from sluice.servicekit.access.authentication import Authentication, Authenticator
from sluice.servicekit.access.people import People
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
        # Systems at other ports of the machine have cookies of other names.
        self._cookie = f"sluice_person_{hashlib.sha256(self._token.encode()).hexdigest()[:8]}"
        self._url = ""

    def guard(self, app: ASGIApp, others: Iterable[Authenticator], people: People) -> ASGIApp:
        """``others``: of tokens that the services give. ``people``: who have accounts."""
        own = FixedTokens({self._token: Person(_user(), Role.ADMIN)})
        pilots = FixedTokens({self._pilot_token: PilotCaller()})
        sessions = Sessions(people, self._cookie)
        asked = Authentication(app, AnyOf([own, pilots, *others, people]), sessions)
        tokens = AnyOf([own, people])
        return SignIn(asked, people, sessions, tokens=tokens, by_address=own)

    def at(self, url: str) -> "Access":
        self._url = url
        return self

    async def start(self) -> None:
        with suppress(OSError):  # then those who ask have to be told
            keep_token(self._url, self._token)

    async def stop(self) -> None:
        forget_token(self._url, self._token)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a number without a name
        return "owner"
