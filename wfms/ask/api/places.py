"""The step in the address of a request, if the caller may see it."""

from typing import Annotated

from fastapi import Depends, Path

from sluice.contracts.common.problems import NotFound
from sluice.servicekit.access.principal_dependencies import CallerPerson, CallerVisibility
from wfms.ask.db.links import HumanStepPlace

_PathName = Annotated[str, Path(min_length=1, max_length=300)]
#: Part of an address.
STEP = "/steps/{group}/{template}/{step}"
#: Name of the caller where there is no authentication.
_NOBODY = "somebody"


async def _place(
    group: _PathName, template: _PathName, step: _PathName, visibility: CallerVisibility
) -> HumanStepPlace:
    """Return the step in the address.

    Raises:
        NotFound: The caller is not in the group.
    """
    if not visibility.is_member(group):
        raise NotFound(f"template {template} of the group {group} has no human task {step}")
    return HumanStepPlace(template, step, group)


async def _name(person: CallerPerson) -> str:
    return _NOBODY if person is None else person.name


#: The step in the address, and the name of the caller.
Place = Annotated[HumanStepPlace, Depends(_place)]
CallerName = Annotated[str, Depends(_name)]
