"""Results of simulations. Times are in seconds."""

from enum import StrEnum
from uuid import UUID

from sluice.contracts.common.base import Contract
from sluice.contracts.jobs.times import Spread, Timeline


class PolicyName(StrEnum):
    """The policies that place warm workers."""

    SLUICE = "sluice"
    WATCHDOG = "watchdog"


class KindTimes(Contract):
    """The times of one kind of work in a simulation.

    Attributes:
        kind: The kind of work.
        jobs: The number of finished jobs.
        open: The number of jobs that still waited at the end.
        loads: How often a slot loaded the tool.
        lost: The number of attempts that were lost with their node.
        waiting: Times from the arrival of the input to the start of the attempt that finished.
        working: Times of the attempts that finished.
    """

    kind: str
    jobs: int
    open: int
    loads: int
    lost: int
    waiting: Spread | None = None
    working: Spread | None = None


class SimulationResult(Contract):
    """The result of a simulation.

    An item is a unit of input that passes all stages of a pipeline.

    Attributes:
        scenario: The name of the scenario.
        policy: The placement policy.
        seed: The seed of the random numbers.
        end: The time of the last event.
        pages: The number of items that came.
        finished: The number of items that passed all stages.
        kinds: The times of each kind of work.
        waiting: Waiting times of items, summed over all stages.
        working: Working times of items, summed over all stages.
        passage: Sums of waiting and working time of items.
        busy: The share of the time of all slots in which jobs ran.
        loading: The share of the time of all slots in which tools were loaded.
        timeline: What each slot did when, if the caller asked for it.
    """

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
    """A simulation of chains that have ended, beside their measured time.

    Attributes:
        chains: The uids of the chains.
        measured: Measured seconds from the first task to the end of the last.
        same: The simulation on the nodes that the chains had.
        ratio: Simulated time on these nodes, divided by the measured time.
        asked: The simulation on other nodes or with another policy.
        untimed: The number of jobs without a time, which are not simulated.
        lost: The number of attempts that did not succeed, which are not simulated.
    """

    chains: list[UUID]
    measured: float
    same: SimulationResult
    ratio: float
    asked: SimulationResult | None = None
    untimed: int = 0
    lost: int = 0
