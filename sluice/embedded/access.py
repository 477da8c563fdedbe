"""Access to an embedded system by the token files of its user."""

import getpass
import hashlib
import secrets
from collections.abc import Iterable
from contextlib import suppress

from starlette.types import ASGIApp

from sluice.contracts.access.access import Role
from sluice.embedded.home import Home
from sluice.embedded.services import read_or_create
from sluice.network.credentials import forget_token, keep_token
from sluice.servicekit.access.account_authentication import AccountAuthentication
from sluice.servicekit.access.authentication import Authenticator
from sluice.servicekit.access.principal import Person, PilotCaller
from sluice.servicekit.access.tokens import FixedTokens


class Access:
    """The access tokens of an embedded system.

    It is a component once ``set_address`` has set the system's address. While it runs, commands
    of this user find the token for the address.
    """

    def __init__(self, home: Home) -> None:
        """Read the tokens, or make them.

        Raises:
            OSError: The files cannot be read or written.
        """
        self._token = read_or_create(home.token, secrets.token_urlsafe(32))
        self._pilot_token = read_or_create(home.pilot_token, secrets.token_urlsafe(32))
        # Systems on other ports of the machine need other cookie names.
        self._cookie = f"sluice_person_{hashlib.sha256(self._token.encode()).hexdigest()[:8]}"
        self._url = ""

    def guard(
        self,
        app: ASGIApp,
        other_authenticators: Iterable[Authenticator],
        account_authentication: AccountAuthentication,
    ) -> ASGIApp:
        """Return ``app`` behind authentication.

        Args:
            app: The application.
            other_authenticators: Authenticators of the tokens that the services issue.
            account_authentication: The authentication of people with accounts.
        """
        # No account can have this name.
        own = FixedTokens({self._token: Person(f"{_user()} (owner)", Role.ADMIN)})
        pilots = FixedTokens({self._pilot_token: PilotCaller()})
        return account_authentication.guard(
            app, [pilots, *other_authenticators], cookie=self._cookie, own_authenticator=own
        )

    def set_address(self, url: str) -> "Access":
        """Set the address of the system, and return this object."""
        self._url = url
        return self

    async def start(self) -> None:
        """Make the token available to commands of this user."""
        with suppress(OSError):  # users then have to name the token themselves
            keep_token(self._url, self._token)

    async def stop(self) -> None:
        """Withdraw the token."""
        forget_token(self._url, self._token)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # the uid has no name
        return "owner"
