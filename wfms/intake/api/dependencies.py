"""FastAPI dependencies that give a route the context and the functions that wake loops."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends

from sluice.servicekit.web.dependencies import from_app
from wfms.intake.usecases.context import IntakeContext


@dataclass(frozen=True, slots=True)
class IntakeWakes:
    """Functions that wake loops after a change that leaves work to them.

    Attributes:
        handover: A chain can be requested for a data set.
    """

    handover: Callable[[], None]


Context = Annotated[IntakeContext, Depends(from_app(IntakeContext))]
Wakes = Annotated[IntakeWakes, Depends(from_app(IntakeWakes))]
