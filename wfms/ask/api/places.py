"""The step that an address names, for who sees it."""

from typing import Annotated

from fastapi import Depends, Path

from sluice.contracts.problems import NotFound
from sluice.servicekit.access.asking import Asking, Seen
from wfms.ask.db.devices import AskingPlace

_Named = Annotated[str, Path(min_length=1, max_length=300)]
#: Part of an address.
STEP = "/steps/{group}/{template}/{step}"
#: Who asks where nobody has to say who he is.
_NOBODY = "somebody"


def _place(group: _Named, template: _Named, step: _Named, sight: Seen) -> AskingPlace:
    """Raises ``NotFound``."""
    if not sight.is_member(group):
        raise NotFound(f"no step {step} of template {template} asks people of {group}")
    return AskingPlace(template, step, group)


def _name(person: Asking) -> str:
    return _NOBODY if person is None else person.name


#: The step, and the name of whoever asks.
Place = Annotated[AskingPlace, Depends(_place)]
AskedBy = Annotated[str, Depends(_name)]
