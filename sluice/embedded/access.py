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
from sluice.servicekit.access.authentication import Authenticator
from sluice.servicekit.access.principal import Person, PilotCaller
from sluice.servicekit.access.reception import Reception
from sluice.servicekit.access.tokens import FixedTokens


class Access:
    """Component, once it is known ``at`` which address the system answers: until it stops, those of
    this user who ask there find the token.
    """

    def __init__(self, home: Home) -> None:
        """Makes the tokens where there are none. Raises ``OSError``."""
        self._token = kept(home.token, secrets.token_urlsafe(32))
        self._pilot_token = kept(home.pilot_token, secrets.token_urlsafe(32))
        # Systems at other ports of the machine have cookies of other names.
        self._cookie = f"sluice_person_{hashlib.sha256(self._token.encode()).hexdigest()[:8]}"
        self._url = ""

    def guard(self, app: ASGIApp, others: Iterable[Authenticator], reception: Reception) -> ASGIApp:
        """``others``: of tokens that the services give. ``reception``: of who has an account."""
        # No account can have this name.
        own = FixedTokens({self._token: Person(f"{_user()} (owner)", Role.ADMIN)})
        pilots = FixedTokens({self._pilot_token: PilotCaller()})
        return reception.guard(app, [pilots, *others], cookie=self._cookie, own=own)

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
