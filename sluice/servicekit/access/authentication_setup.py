"""Authentication setups for services that run as separate processes."""

from collections.abc import Sequence

import httpx
from starlette.types import ASGIApp

from sluice.contracts.access.access import Role
from sluice.servicekit.access.account_authentication import AccountAuthentication
from sluice.servicekit.access.authentication import Authentication, Authenticator
from sluice.servicekit.access.people import RemoteAccounts
from sluice.servicekit.access.principal import Person
from sluice.servicekit.access.tokens import AuthenticatorChain

#: The principal of requests without a credential where people have no accounts. Routes that are
#: only for services stay closed to it.
_ANYONE = Person("somebody", Role.ADMIN)
#: The name of the session cookie.
_COOKIE = "sluice_person"


def open_to_anybody(app: ASGIApp) -> ASGIApp:
    """Let everybody who reaches the application do everything."""
    return Authentication(app, None)


def protect_without_accounts(
    app: ASGIApp, authenticators: Sequence[Authenticator], *, for_people: bool
) -> ASGIApp:
    """Protect an application in a system without accounts.

    Args:
        app: The application.
        authenticators: Authenticators of services and pilots.
        for_people: Whether people use the application. They need no credential.
    """
    return Authentication(
        app, AuthenticatorChain(authenticators), without=_ANYONE if for_people else None
    )


def protect_with_remote_accounts(
    app: ASGIApp,
    authenticators: Sequence[Authenticator],
    operator: httpx.AsyncClient,
    *,
    limit: int,
) -> ASGIApp:
    """Protect an application that asks the operator service about the tokens of people.

    Args:
        app: The application.
        authenticators: Authenticators of services and pilots.
        operator: A client of the service that keeps the accounts.
        limit: Requests that one person may send in a minute. 0: no limit.
    """
    return Authentication(
        app, AuthenticatorChain([*authenticators, RemoteAccounts(operator)]), limit=limit
    )


def protect_with_accounts(
    app: ASGIApp,
    authenticators: Sequence[Authenticator],
    account_authentication: AccountAuthentication,
) -> ASGIApp:
    """Protect the application of the service that keeps the accounts."""
    return account_authentication.guard(app, authenticators, cookie=_COOKIE)
