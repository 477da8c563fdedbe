"""Warm workers, as a pilot reports them."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from sluice.contracts.common.base import Contract, Timestamp
from sluice.contracts.common.bounds import MAX_WORD

#: The most warm workers of a pilot: one for each slot.
_MAX_WARM_WORKERS = 4096


class LoadState(StrEnum):
    """The state of a warm worker.

    ``loading`` lasts until the first job of the warm worker has ended.
    """

    LOADING = "loading"
    IDLE = "idle"
    WORKING = "working"


class WarmWorkerState(Contract):
    """A warm worker of a pilot.

    Attributes:
        kind: What is loaded, as in ``Warm``.
        step: The step for which it was loaded.
        since: When it was started.
        loading: Seconds that loading took, if known.
        jobs: The number of its jobs so far.
        memory: Its memory in MiB.
        state: Its state.
    """

    kind: Annotated[str, Field(max_length=MAX_WORD)]
    step: Annotated[str, Field(max_length=MAX_WORD)]
    since: Timestamp
    loading: Annotated[float, Field(ge=0)] = 0.0
    jobs: Annotated[int, Field(ge=0)] = 0
    memory: Annotated[float, Field(ge=0)] = 0.0
    state: LoadState = LoadState.IDLE

    def __str__(self) -> str:
        """Return a text such as ``ocr (idle, 812 jobs)``."""
        jobs = "" if self.state is LoadState.LOADING else f", {self.jobs} jobs"
        return f"{self.step} ({self.state.value}{jobs})"


class LoadTool(Contract):
    """A request to lease a pilot the jobs of a step first, so that it loads their tool.

    Attributes:
        step: The step. None ends the preference.
    """

    step: Annotated[str, Field(min_length=1, max_length=MAX_WORD)] | None


#: The warm workers of a pilot.
LoadedTools = Annotated[list[WarmWorkerState], Field(max_length=_MAX_WARM_WORKERS)]
#: The kinds of the warm workers of a pilot.
LoadedKinds = Annotated[
    list[Annotated[str, Field(max_length=MAX_WORD)]],
    Field(max_length=_MAX_WARM_WORKERS),
]
