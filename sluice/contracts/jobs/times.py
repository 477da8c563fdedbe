"""How long jobs wait and run, and what pilots did when."""

from uuid import UUID

from pydantic import Field

from sluice.contracts.common.base import Contract, Timestamp


class Spread(Contract):
    """Statistics of times, in seconds.

    Quantiles are accurate to 5 %, the other values are exact.

    Attributes:
        count: The number of times.
    """

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
    """The times of the finished jobs of a step.

    Times are None if no job has finished.

    Attributes:
        step: The name of the step.
        tasks: The number of its tasks.
        finished: The number of finished jobs.
        open: The number of jobs that have not ended.
        waiting: Times from the arrival of the input to the end of a job, without its last attempt.
            They include earlier attempts.
        working: Times of the attempts that finished.
        passage: Times from the creation of the first task of the chain to the end of a job. The
            first task is created when the input data set is closed.
    """

    step: str
    tasks: int
    finished: int
    open: int
    waiting: Spread | None = None
    working: Spread | None = None
    passage: Spread | None = None


class WorkTimes(Contract):
    """The times of steps, in the order in which the steps began.

    Attributes:
        steps: The times of each step.
        waiting: The sum of the mean waiting times of the steps.
        working: The sum of the mean working times of the steps.
        passage: The turnaround times of the step with the longest mean turnaround.
        chains: Times from the first task to the end of the last, of chains whose tasks have all
            ended.
        uncounted: The number of ended tasks whose jobs are not counted yet.
    """

    steps: list[StepTimes]
    waiting: float = 0.0
    working: float = 0.0
    passage: Spread | None = None
    chains: Spread | None = None
    uncounted: int = 0


class Lane(Contract):
    """What a pilot did over time.

    Attributes:
        pilot_uid: The pilot. None for the sum of several pilots.
        name: The name of the pilot.
        busy: The mean number of its running jobs, for each step of the time line and each bin.
    """

    pilot_uid: UUID | None = None
    name: str
    busy: list[list[float]]


class Timeline(Contract):
    """A chain over time, in bins of equal length.

    Attributes:
        begin: The begin of the first bin.
        end: The end of the last bin.
        bins: The number of bins.
        steps: The names of the steps.
        lanes: What the pilots did.
        queues: The number of waiting jobs at the end of a bin, for each step and each bin.
    """

    begin: Timestamp
    end: Timestamp
    bins: int
    steps: list[str]
    lanes: list[Lane] = Field(default_factory=list)
    queues: list[list[int]] = Field(default_factory=list)

    @property
    def seconds(self) -> float:
        """The length of a bin in seconds."""
        return (self.end - self.begin).total_seconds() / self.bins
