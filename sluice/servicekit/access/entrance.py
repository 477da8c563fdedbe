"""What stands before the application of a service that is a process of its own: who may come in,
and as whom."""

from collections.abc import Sequence

import httpx
from starlette.types import ASGIApp

from sluice.contracts.access import Role
from sluice.servicekit.access.authentication import Authentication, Authenticator
from sluice.servicekit.access.people import AskedPeople
from sluice.servicekit.access.principal import Person
from sluice.servicekit.access.reception import Reception
from sluice.servicekit.access.tokens import AnyOf

#: Whoever gives no credential to a service that people ask, where they have no accounts: what is
#: for services stays closed.
_ANYONE = Person("somebody", Role.ADMIN)
#: Of the cookie that says whose session it is.
_COOKIE = "sluice_person"


def open_to_anybody(app: ASGIApp) -> ASGIApp:
    """Whoever reaches it may do everything."""
    return Authentication(app, None)


def without_accounts(app: ASGIApp, known: Sequence[Authenticator], *, for_people: bool) -> ASGIApp:
    """``known``: who is no person. ``for_people``: they ask it, and need not say who they are."""
    return Authentication(app, AnyOf(known), without=_ANYONE if for_people else None)


def asking_for_people(
    app: ASGIApp, known: Sequence[Authenticator], operator: httpx.AsyncClient, *, most: int
) -> ASGIApp:
    """``operator``: leads to the service that knows people. ``most``: requests of a person in a
    minute; 0: any number."""
    return Authentication(app, AnyOf([*known, AskedPeople(operator)]), most=most)


def knowing_people(app: ASGIApp, known: Sequence[Authenticator], reception: Reception) -> ASGIApp:
    """Of the service that knows them."""
    return reception.guard(app, known, cookie=_COOKIE)
