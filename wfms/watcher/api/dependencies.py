"""FastAPI dependencies that give a route the functions that wake loops."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends

from sluice.servicekit.web.dependencies import from_app


@dataclass(frozen=True, slots=True)
class WatcherWakes:
    """Functions that wake loops after a change that leaves work to them.

    Attributes:
        upload: An upload is watched, which may have ended already.
    """

    upload: Callable[[], None]


Wakes = Annotated[WatcherWakes, Depends(from_app(WatcherWakes))]
