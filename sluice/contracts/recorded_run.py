"""A chain that ran, as the simulator takes it: what the services tell of it, read page by page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sluice.contracts.pilot_list import Pilot
from sluice.contracts.plan import Plan


@dataclass(frozen=True, slots=True)
class RecordedJob:
    """``number``: of the job; ``inputs``: how many files it had; ``began``, and how many
    ``seconds`` its last attempt took; ``pilot``: the name of who had it."""

    number: int
    inputs: int
    pilot: str
    began: datetime
    seconds: float


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """``created``: when its task was made. ``jobs``: those of which there are times; ``untimed``:
    how many others there were; ``lost``: attempts that did not succeed."""

    created: datetime
    jobs: Sequence[RecordedJob]
    untimed: int = 0
    lost: int = 0


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """``steps``: by name, those that ran in this chain. ``began``, ``ended``: from the first task
    to the end of the last. ``pilots``: all of a name that had one of its jobs."""

    chain: UUID
    name: str
    template: str
    plan: Plan
    began: datetime
    ended: datetime
    steps: Mapping[str, RecordedStep]
    pilots: Sequence[Pilot]

    @property
    def seconds(self) -> float:
        """That it took."""
        return (self.ended - self.began).total_seconds()
