"""Who asks, as a parameter of FastAPI's routes."""

from typing import Annotated

from fastapi import Depends, Request

from sluice.contracts.owners import Sight
from sluice.servicekit.access.principal import Person, person_of, principal_of, sight_of


def _sight(request: Request) -> Sight:
    return sight_of(principal_of(request.scope))


def _person(request: Request) -> Person | None:
    return person_of(principal_of(request.scope))


#: What whoever asks sees.
Seen = Annotated[Sight, Depends(_sight)]
#: The person that asks, himself or by a service; None: a service for itself.
Asking = Annotated[Person | None, Depends(_person)]
