"""Tools that stay loaded on a pilot, as it tells of them."""

import operator
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from sluice.contracts.base import Contract, Timestamp
from sluice.contracts.bounds import MOST_WORD

#: Of one pilot: one for each slot.
_MOST = 4096


class LoadState(StrEnum):
    """``LOADING``: it has its first job, which takes as long as that is."""

    LOADING = "loading"
    IDLE = "idle"
    WORKING = "working"


class WarmWorkerState(Contract):
    """``kind``: what is loaded (see ``Warm``); ``step``: that it was loaded for. ``loading``: the
    seconds that it took, as far as is known; ``jobs``: that it has served; ``memory``: MiB."""

    kind: Annotated[str, Field(max_length=MOST_WORD)]
    step: Annotated[str, Field(max_length=MOST_WORD)]
    since: Timestamp
    loading: Annotated[float, Field(ge=0)] = 0.0
    jobs: Annotated[int, Field(ge=0)] = 0
    memory: Annotated[float, Field(ge=0)] = 0.0
    state: LoadState = LoadState.IDLE

    def __str__(self) -> str:
        """``ocr (idle, 812 jobs)``, for a person."""
        jobs = "" if self.state is LoadState.LOADING else f", {self.jobs} jobs"
        return f"{self.step} ({self.state.value}{jobs})"


class LoadTool(Contract):
    """``step``: whose jobs a pilot is to have before all others; None: none."""

    step: Annotated[str, Field(min_length=1, max_length=MOST_WORD)] | None


#: Of a pilot. Left out where there are none, which the release before does not know.
LoadedTools = Annotated[list[WarmWorkerState], Field(max_length=_MOST, exclude_if=operator.not_)]
#: Kinds of such tools.
LoadedKinds = Annotated[
    list[Annotated[str, Field(max_length=MOST_WORD)]],
    Field(max_length=_MOST, exclude_if=operator.not_),
]
