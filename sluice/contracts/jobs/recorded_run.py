"""An ended chain as input of the simulator."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sluice.contracts.pilots.pilot_list import Pilot
from sluice.contracts.templates.plan import Plan


@dataclass(frozen=True, slots=True)
class RecordedJob:
    """A job of an ended chain.

    Attributes:
        number: The number of the job in its task.
        inputs: The number of its input files.
        pilot: The name of its pilot.
        began: When its last attempt began.
        seconds: How long its last attempt took.
    """

    number: int
    inputs: int
    pilot: str
    began: datetime
    seconds: float


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """A step of an ended chain.

    Attributes:
        created: When its task was created.
        jobs: The jobs whose times are known.
        untimed: The number of other jobs.
        lost: The number of attempts that did not succeed.
    """

    created: datetime
    jobs: Sequence[RecordedJob]
    untimed: int = 0
    lost: int = 0


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """An ended chain.

    Attributes:
        chain: The uid of the chain.
        name: The name of its data set.
        template: The name of its template.
        plan: The plan of the template.
        began: When its first task was created.
        ended: When its last task ended.
        steps: The steps that ran in this chain, by name.
        pilots: All pilots with the name of a pilot that had a job of the chain.
    """

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
        """Return the duration of the chain in seconds."""
        return (self.ended - self.began).total_seconds()
