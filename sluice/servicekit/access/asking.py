"""FastAPI dependencies that give a route its principal."""

from typing import Annotated

from fastapi import Depends, Request

from sluice.contracts.access.owners import Visibility
from sluice.servicekit.access.principal import Person, person_of, principal_of, visibility_of


def _visibility(request: Request) -> Visibility:
    return visibility_of(principal_of(request.scope))


def _person(request: Request) -> Person | None:
    return person_of(principal_of(request.scope))


#: The visibility of the principal that sends the request.
Seen = Annotated[Visibility, Depends(_visibility)]
#: The person who sends the request, directly or by delegation. None: a service acts for itself.
Asking = Annotated[Person | None, Depends(_person)]
