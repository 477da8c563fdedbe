"""The authentication of the service that keeps the accounts."""

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.types import ASGIApp

from sluice.servicekit.access.authentication import Authentication, Authenticator
from sluice.servicekit.access.people import People
from sluice.servicekit.access.provider_sign_in import Provider, ProviderSignIn
from sluice.servicekit.access.sessions import Sessions
from sluice.servicekit.access.sign_in import SignIn
from sluice.servicekit.access.tokens import AuthenticatorChain


@dataclass(frozen=True, slots=True)
class AccountAuthentication:
    """The parts and settings of the authentication of people.

    Attributes:
        people: The accounts.
        provider: The external identity provider, if there is one.
        secret_key: Signs the cookie that browsers keep during a sign-in at the provider.
        public_url: The address by which browsers know the service. Empty: the address of the
            request.
        secure_cookies: Whether browsers send the cookies only over TLS.
        requests_per_minute: Requests that one person may send in a minute. 0: no limit.
    """

    people: People
    provider: Provider | None = None
    secret_key: str = ""
    public_url: str = ""
    secure_cookies: bool = False
    requests_per_minute: int = 0

    def guard(
        self,
        app: ASGIApp,
        other_authenticators: Sequence[Authenticator],
        *,
        cookie: str,
        own_authenticator: Authenticator | None = None,
    ) -> ASGIApp:
        """Return ``app`` behind authentication and sign-in.

        Args:
            app: The application.
            other_authenticators: Authenticators of services and pilots.
            cookie: The name of the session cookie.
            own_authenticator: Tokens of people without an account. An address may contain one.
        """
        owners = [] if own_authenticator is None else [own_authenticator]
        secure = self.secure_cookies or self.public_url.startswith("https:")
        sessions = Sessions(self.people, cookie, secure=secure)
        authenticated = Authentication(
            app,
            AuthenticatorChain([*owners, *other_authenticators, self.people]),
            sessions,
            limit=self.requests_per_minute,
        )
        guarded: ASGIApp = SignIn(
            authenticated,
            sessions,
            tokens=AuthenticatorChain([*owners, self.people]),
            by_address=own_authenticator,
        )
        if self.provider is None:
            return guarded
        return ProviderSignIn(
            guarded, self.provider, sessions, key=self.secret_key, public_url=self.public_url
        )
