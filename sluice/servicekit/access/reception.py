"""How a service that knows people lets them in."""

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.types import ASGIApp

from sluice.servicekit.access.authentication import Authentication, Authenticator
from sluice.servicekit.access.people import People
from sluice.servicekit.access.provider_sign_in import Provider, ProviderSignIn
from sluice.servicekit.access.sessions import Sessions
from sluice.servicekit.access.sign_in import SignIn
from sluice.servicekit.access.tokens import AnyOf


@dataclass(frozen=True, slots=True)
class Reception:
    """``provider``: that knows people, too; None: there is none. ``secret_key``: signs what
    browsers keep while they are there. ``public_url``: under which browsers know the service;
    empty: as they ask for it. ``secure_cookies``: they send cookies by TLS alone.
    ``most_requests``: of a person in a minute; 0: any number."""

    people: People
    provider: Provider | None = None
    secret_key: str = ""
    public_url: str = ""
    secure_cookies: bool = False
    most_requests: int = 0

    def guard(
        self,
        app: ASGIApp,
        others: Sequence[Authenticator],
        *,
        cookie: str,
        own: Authenticator | None = None,
    ) -> ASGIApp:
        """``others``: who is no person. ``cookie``: its name. ``own``: tokens that people have
        without an account, which addresses may have in them, too."""
        owners = [] if own is None else [own]
        secure = self.secure_cookies or self.public_url.startswith("https:")
        sessions = Sessions(self.people, cookie, secure=secure)
        asked = Authentication(
            app, AnyOf([*owners, *others, self.people]), sessions, most=self.most_requests
        )
        guarded: ASGIApp = SignIn(
            asked, sessions, tokens=AnyOf([*owners, self.people]), by_address=own
        )
        if self.provider is None:
            return guarded
        return ProviderSignIn(
            guarded, self.provider, sessions, key=self.secret_key, public_url=self.public_url
        )
