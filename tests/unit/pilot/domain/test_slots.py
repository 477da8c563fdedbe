"""Tests of the number of slots, which follows the number of jobs that can run at the same time."""

from uuid import UUID

from pilot.domain.core import PilotCore
from pilot.domain.model import (
    Instruction,
    LeaseGranted,
    PilotStarted,
    ReleaseSlot,
    SlotLost,
    SlotReady,
    SlotReleased,
    StartSlot,
    TimePassed,
)
from pilot.domain.prefetch import PrefetchPolicy
from sluice.contracts.jobs.needs import Resources
from sluice.contracts.pilots.pilots import Lease, LeasedJob
from tests.unit.gpus import node
from tests.unit.pilot.domain.cores import at, ended, runs, task

TENTH, ONE = task(UUID(int=1), Resources(cores=0.1)), task(UUID(int=2), Resources(cores=1))


def core_of(most: int, *, cores: float = 2, few: int = 2) -> PilotCore:
    core = PilotCore(most, PrefetchPolicy(keep_idle=300.0), node(cores, 16_000), min_slots=few)
    for number in started(core.handle(PilotStarted(), at(0))):
        core.handle(SlotReady(number), at(0))
    return core


def lease(core: PilotCore, *ids: int, of: UUID, boot_time: float = 0.0) -> list[Instruction]:
    jobs = [LeasedJob(id=number, attempt=1, task_uid=of, seq=number, inputs=[]) for number in ids]
    granted = Lease(seconds=1e6, jobs=jobs, tasks=[TENTH, ONE])
    return core.handle(LeaseGranted(boot_time, granted), at(boot_time))


def started(moves: list[Instruction]) -> list[int]:
    return [move.slot for move in moves if isinstance(move, StartSlot)]


def let_go(moves: list[Instruction]) -> list[int]:
    return [move.slot for move in moves if isinstance(move, ReleaseSlot)]


def test_small_jobs_get_as_many_slots_as_the_cores_allow() -> None:
    core = core_of(100)
    assert core.count_jobs_to_request(at(0)) == 100
    moves = lease(core, *range(25), of=TENTH.uid)
    assert runs(moves) == [(0, 0), (1, 1)]
    assert started(moves) == list(range(2, 20)), "two cores allow twenty jobs of a tenth of a core"
    assert core.count_jobs_to_request(at(0)) == 0
    assert [runs(core.handle(SlotReady(number), at(0))) for number in (2, 3)] == [
        [(2, 2)],
        [(3, 3)],
    ]
    assert started(core.handle(ended(0), at(1.0))) == []


def test_jobs_of_whole_cores_get_no_more_slots_than_there_are_cores() -> None:
    core = core_of(100)
    moves = lease(core, *range(10), of=ONE.uid)
    assert (len(runs(moves)), started(moves)) == (2, [])


def test_maximum_number_of_slots_is_not_exceeded() -> None:
    core = core_of(5)
    assert started(lease(core, *range(25), of=TENTH.uid)) == [2, 3, 4]


def test_each_waiting_job_starts_at_most_one_slot() -> None:
    core = core_of(100)
    assert started(lease(core, 1, 2, 3, of=TENTH.uid)) == [2]
    assert started(lease(core, 4, of=TENTH.uid)) == [3]
    assert started(core.handle(ended(1), at(1.0))) == []


def test_idle_slots_are_released_and_their_numbers_are_used_again() -> None:
    core = core_of(4)
    for number in started(lease(core, 1, 2, 3, 4, of=TENTH.uid)):
        core.handle(SlotReady(number), at(0))
    for place, job in enumerate((1, 2, 3, 4)):
        core.handle(ended(job, slot=place), at(10.0 + place))
    assert core.next_check() == 310.0
    assert let_go(core.handle(TimePassed(), at(309.9))) == []
    assert let_go(core.handle(TimePassed(), at(310.0))) == [0]
    assert let_go(core.handle(TimePassed(), at(320.0))) == [1]
    assert let_go(core.handle(TimePassed(), at(9999.0))) == [], "two slots stay"
    moves = lease(core, 5, 6, 7, 8, of=TENTH.uid, boot_time=9999.0)
    assert runs(moves) == [(2, 5), (3, 6)]
    assert started(moves) == [], "the processes of released slots may still exist"
    assert started(core.handle(SlotReleased(0), at(9999.5))) == [0]
    assert runs(core.handle(SlotReady(0), at(9999.6))) == [(0, 7)]


def test_lost_slot_is_started_again_with_its_number() -> None:
    core = core_of(4)
    assert started(core.handle(SlotLost(1, "ended"), at(1.0))) == [1]
    assert core.count_jobs_to_request(at(1.0)) == 3, "the lost slot takes no job until it is ready"


def test_slot_that_knows_the_task_is_preferred() -> None:
    core = core_of(2)
    lease(core, 1, of=ONE.uid)
    lease(core, 2, of=TENTH.uid)
    core.handle(ended(1), at(1.0))
    core.handle(ended(2, slot=1), at(2.0))
    assert runs(lease(core, 3, of=TENTH.uid, boot_time=3.0)) == [(1, 3)]


def test_prefetching_counts_running_jobs_and_not_all_slots() -> None:
    core = core_of(100)
    for number in started(lease(core, *range(20), of=TENTH.uid)):
        core.handle(SlotReady(number), at(0))
    core.handle(ended(0, seconds=0.5), at(0.5))
    # 81 jobs could start, and 0.75 s of work for the 19 running jobs are 19 × 0.75 / 0.5 jobs.
    free_capacity = core.free_capacity(at(0.5), core.count_jobs_to_request(at(0.5)))
    assert free_capacity is not None
    assert (core.count_jobs_to_request(at(0.5)), free_capacity.ahead) == (81 + 28, 28)
