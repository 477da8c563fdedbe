"""How long work waits and takes, by step and in all; and what was done when."""

from uuid import UUID

from pydantic import Field

from sluice.contracts.base import Contract, Timestamp


class Spread(Contract):
    """Of ``count`` times, in seconds. Quantiles are right to a twentieth; the others exact."""

    count: int
    total: float
    mean: float
    deviation: float
    least: float
    median: float
    p90: float
    p99: float
    most: float


class StepTimes(Contract):
    """Of the finished jobs of a step. ``waiting``: what of the time since its input was there a job
    did not run, attempts that did not count included; ``working``: the attempt that finished;
    ``passage``: since the chain's first task was made, that is, since its data set was closed,
    until the job had ended. None: no job has finished."""

    step: str
    tasks: int
    finished: int
    open: int
    waiting: Spread | None = None
    working: Spread | None = None
    passage: Spread | None = None


class WorkTimes(Contract):
    """Steps in the order in which they began. ``waiting``, ``working``: the sums of the steps'
    means; ``passage``: that of the step whose results come last; ``chains``: from the first task to
    the end of the last, of chains whose tasks have all ended. ``uncounted``: tasks that have ended,
    and whose jobs are still to be counted."""

    steps: list[StepTimes]
    waiting: float = 0.0
    working: float = 0.0
    passage: Spread | None = None
    chains: Spread | None = None
    uncounted: int = 0


class Lane(Contract):
    """What a pilot did: ``busy``: for each step (in the order of the time line) and each bin, how
    many of its jobs ran on average. ``pilot_uid`` None: several pilots, which have no lane of their
    own."""

    pilot_uid: UUID | None = None
    name: str
    busy: list[list[float]]


class Timeline(Contract):
    """A chain over time, in ``bins`` of equal length. ``queues``: for each step and bin, how many
    jobs waited at its end."""

    begin: Timestamp
    end: Timestamp
    bins: int
    steps: list[str]
    lanes: list[Lane] = Field(default_factory=list)
    queues: list[list[int]] = Field(default_factory=list)

    @property
    def seconds(self) -> float:
        """Of a bin."""
        return (self.end - self.begin).total_seconds() / self.bins
