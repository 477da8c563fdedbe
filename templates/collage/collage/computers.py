"""Simulated old computers: slow, likely to die, and some with one kind of fault."""

from dataclasses import dataclass, field
from enum import StrEnum
from random import Random

#: The shortest and longest duration of jobs in seconds, and the jitter of single jobs. The duration
#: of a computer is an integer that is fixed at its start.
MIN_DELAY, MAX_DELAY, JITTER = 4, 10, 1.0
#: Seconds between two checks of whether a computer dies.
CHECK = 5.0


class Fault(StrEnum):
    """The fault of a computer."""

    NONE = "none"
    SILENT = "silent"  #: sends heartbeats and never delivers
    GARBLED = "garbled"  #: sends each report in an unreadable form, then correctly
    MISSING = "missing"  #: reports outputs that do not exist
    SIZE = "size"  #: reports a wrong size
    CHECKSUM = "checksum"  #: reports a wrong checksum
    TWICE = "twice"  #: sends each report twice
    LATE = "late"  #: delivers after the job has been given to another pilot


@dataclass
class OldComputer:
    """An old computer.

    ``factor`` scales how likely it dies; with 0, it never does. ``speed_up`` is the factor by which
    the simulation runs faster than time. ``delay`` is the duration of a job in seconds, before
    speed-up.
    """

    name: str
    random: Random
    fault: Fault = Fault.NONE
    factor: float = 1.0
    speed_up: float = 1.0
    delay: int = field(init=False)

    def __post_init__(self) -> None:
        self.delay = self.random.randint(MIN_DELAY, MAX_DELAY)

    def job_seconds(self) -> float:
        """Return the duration of one job, with random jitter."""
        return (self.delay + self.random.uniform(-JITTER, JITTER)) / self.speed_up

    @property
    def check_seconds(self) -> float:
        """Return the time between two checks of whether it dies."""
        return CHECK / self.speed_up

    def dies(self, seconds: float) -> bool:
        """Return at random whether it dies, ``seconds`` after the last check.

        The probability is factor × seconds × speed-up / 100.
        """
        return self.random.random() < self.factor * seconds * self.speed_up / 100
