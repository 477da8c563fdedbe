"""FastAPI dependencies that give a route its principal.

They are coroutines, because FastAPI calls other functions in threads, which takes longer.
"""

from typing import Annotated

from fastapi import Depends, Request

from sluice.contracts.access.owners import Visibility
from sluice.servicekit.access.principal import Person, find_person, find_principal, get_visibility


async def _visibility(request: Request) -> Visibility:
    return get_visibility(find_principal(request.scope))


async def _person(request: Request) -> Person | None:
    return find_person(find_principal(request.scope))


#: The visibility of the principal that sends the request.
CallerVisibility = Annotated[Visibility, Depends(_visibility)]
#: The person who sends the request, directly or by delegation. None means that a service acts for
#: itself.
CallerPerson = Annotated[Person | None, Depends(_person)]
