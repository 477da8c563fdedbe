"""Old computers, as the source of this system simulates them: slow, mortal, and some of them broken
in one way.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from random import Random

#: Seconds that a job takes there at least and at most, a whole number that is fixed when the
#: computer starts; and seconds by which single jobs differ.
SHORTEST, LONGEST, JITTER = 4, 10, 1.0
#: Seconds between two looks at whether it dies.
CHECK = 5.0


class Way(StrEnum):
    """What a computer does wrong."""

    NONE = "none"
    SILENT = "silent"  #: sends heartbeats, and never delivers
    GARBLED = "garbled"  #: sends each report in a form that cannot be read, and then again
    MISSING = "missing"  #: names outputs that are not there
    SIZE = "size"  #: … that have another size
    CHECKSUM = "checksum"  #: … that have another content
    TWICE = "twice"  #: delivers everything twice
    LATE = "late"  #: delivers when others have been given the job


@dataclass
class OldComputer:
    """``factor``: how mortal it is, 0: not at all. ``speed_up``: so many times as fast as time
    runs. ``delay``: seconds that a job takes, before speed-up.
    """

    name: str
    random: Random
    way: Way = Way.NONE
    factor: float = 1.0
    speed_up: float = 1.0
    delay: int = field(init=False)

    def __post_init__(self) -> None:
        self.delay = self.random.randint(SHORTEST, LONGEST)

    def job_seconds(self) -> float:
        """For one job, with what is different each time."""
        return (self.delay + self.random.uniform(-JITTER, JITTER)) / self.speed_up

    @property
    def check_seconds(self) -> float:
        """Between two looks at whether it dies."""
        return CHECK / self.speed_up

    def dies(self, seconds: float) -> bool:
        """Does it, ``seconds`` after the last look? By the source: with the chance factor × seconds
        / 100.
        """
        return self.random.random() < self.factor * seconds * self.speed_up / 100
