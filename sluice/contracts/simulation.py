"""What a simulation says. Times are seconds."""

from enum import StrEnum
from uuid import UUID

from sluice.contracts.base import Contract
from sluice.contracts.times import Spread, Timeline


class PolicyName(StrEnum):
    """Of those that decide what is loaded where."""

    SLUICE = "sluice"
    WATCHDOG = "watchdog"


class KindTimes(Contract):
    """Of one kind of work. ``waiting``: of a job since its input was there, what was lost with a
    node included; ``working``: of the attempt that ended it. ``loads``: how often it was loaded;
    ``lost``: jobs that were in the hand of a node that died."""

    kind: str
    jobs: int
    open: int
    loads: int
    lost: int
    waiting: Spread | None = None
    working: Spread | None = None


class SimulationResult(Contract):
    """``waiting``, ``working``: of a page, in all its stages; ``passage``: both. ``busy``,
    ``loading``: shares of the time of all places. ``end``: when the last thing happened."""

    scenario: str
    policy: PolicyName
    seed: int
    end: float
    pages: int
    finished: int
    kinds: list[KindTimes]
    waiting: Spread | None = None
    working: Spread | None = None
    passage: Spread | None = None
    busy: float = 0.0
    loading: float = 0.0
    timeline: Timeline | None = None


class Replay(Contract):
    """Chains that ran, beside what is simulated of them. ``measured``: seconds that they took, from
    the first task to the end of the last; ``same``: simulated on the nodes that they had;
    ``ratio``: of the simulated time to the measured; ``asked``: on other nodes or by another
    policy. ``untimed``: jobs without a time, ``lost``: attempts that did not succeed: neither is
    simulated."""

    chains: list[UUID]
    measured: float
    same: SimulationResult
    ratio: float
    asked: SimulationResult | None = None
    untimed: int = 0
    lost: int = 0
