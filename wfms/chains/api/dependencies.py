"""FastAPI dependencies that give a route the context and the functions that wake loops."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends

from sluice.servicekit.web.dependencies import from_app
from wfms.chains.usecases.context import ChainsContext


@dataclass(frozen=True, slots=True)
class ChainsWakes:
    """Functions that wake loops after a change that leaves work to them.

    Attributes:
        change: A change left work to several loops.
        new_chain: A chain was created, whose first steps have to start.
    """

    change: Callable[[], None]
    new_chain: Callable[[], None]


Context = Annotated[ChainsContext, Depends(from_app(ChainsContext))]
Wakes = Annotated[ChainsWakes, Depends(from_app(ChainsWakes))]
