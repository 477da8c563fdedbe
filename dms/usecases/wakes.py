"""The functions that wake the loops of the DMS."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DmsWakes:
    """Functions that wake loops after a change that leaves work to them.

    Attributes:
        complete: Files were registered or a data set was cut, which may be complete now.
        release: Files were released.
        deletion: A deletion was requested.
        upload: An upload was requested.
        resumption: Halted work was resumed.
    """

    complete: Callable[[], None]
    release: Callable[[], None]
    deletion: Callable[[], None]
    upload: Callable[[], None]
    resumption: Callable[[], None]
