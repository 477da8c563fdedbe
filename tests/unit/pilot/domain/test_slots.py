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
from sluice.contracts.pilots.leases import Lease, LeasedJob
from tests.unit.gpus import make_node
from tests.unit.pilot.domain.cores import list_runs, make_attempt_ended, make_task, make_time

TENTH, ONE = (
    make_task(UUID(int=1), Resources(cores=0.1)),
    make_task(UUID(int=2), Resources(cores=1)),
)


def make_core(max_slots: int, *, cores: float = 2, min_slots: int = 2) -> PilotCore:
    core = PilotCore(
        max_slots, PrefetchPolicy(keep_idle=300.0), make_node(cores, 16_000), min_slots=min_slots
    )
    for number in list_started_slots(core.handle(PilotStarted(), make_time(0))):
        core.handle(SlotReady(number), make_time(0))
    return core


def grant_jobs(core: PilotCore, *ids: int, task: UUID, boot_time: float = 0.0) -> list[Instruction]:
    jobs = [LeasedJob(id=number, attempt=1, task_uid=task, seq=number, inputs=[]) for number in ids]
    granted = Lease(seconds=1e6, jobs=jobs, tasks=[TENTH, ONE])
    return core.handle(LeaseGranted(boot_time, granted), make_time(boot_time))


def list_started_slots(instructions: list[Instruction]) -> list[int]:
    return [move.slot for move in instructions if isinstance(move, StartSlot)]


def list_released_slots(instructions: list[Instruction]) -> list[int]:
    return [move.slot for move in instructions if isinstance(move, ReleaseSlot)]


def test_small_jobs_get_as_many_slots_as_the_cores_allow() -> None:
    core = make_core(100)
    assert core.count_jobs_to_request(make_time(0)) == 100
    instructions = grant_jobs(core, *range(25), task=TENTH.uid)
    assert list_runs(instructions) == [(0, 0), (1, 1)]
    assert list_started_slots(instructions) == list(range(2, 20)), (
        "two cores allow twenty jobs of a tenth of a core"
    )
    assert core.count_jobs_to_request(make_time(0)) == 0
    assert [list_runs(core.handle(SlotReady(number), make_time(0))) for number in (2, 3)] == [
        [(2, 2)],
        [(3, 3)],
    ]
    assert list_started_slots(core.handle(make_attempt_ended(0), make_time(1.0))) == []


def test_jobs_of_whole_cores_get_no_more_slots_than_there_are_cores() -> None:
    core = make_core(100)
    instructions = grant_jobs(core, *range(10), task=ONE.uid)
    assert (len(list_runs(instructions)), list_started_slots(instructions)) == (2, [])


def test_maximum_number_of_slots_is_not_exceeded() -> None:
    core = make_core(5)
    assert list_started_slots(grant_jobs(core, *range(25), task=TENTH.uid)) == [2, 3, 4]


def test_each_waiting_job_starts_at_most_one_slot() -> None:
    core = make_core(100)
    assert list_started_slots(grant_jobs(core, 1, 2, 3, task=TENTH.uid)) == [2]
    assert list_started_slots(grant_jobs(core, 4, task=TENTH.uid)) == [3]
    assert list_started_slots(core.handle(make_attempt_ended(1), make_time(1.0))) == []


def test_idle_slots_are_released_and_their_numbers_are_used_again() -> None:
    core = make_core(4)
    for number in list_started_slots(grant_jobs(core, 1, 2, 3, 4, task=TENTH.uid)):
        core.handle(SlotReady(number), make_time(0))
    for place, job in enumerate((1, 2, 3, 4)):
        core.handle(make_attempt_ended(job, slot=place), make_time(10.0 + place))
    assert core.next_check() == 310.0
    assert list_released_slots(core.handle(TimePassed(), make_time(309.9))) == []
    assert list_released_slots(core.handle(TimePassed(), make_time(310.0))) == [0]
    assert list_released_slots(core.handle(TimePassed(), make_time(320.0))) == [1]
    assert list_released_slots(core.handle(TimePassed(), make_time(9999.0))) == [], "two slots stay"
    instructions = grant_jobs(core, 5, 6, 7, 8, task=TENTH.uid, boot_time=9999.0)
    assert list_runs(instructions) == [(2, 5), (3, 6)]
    assert list_started_slots(instructions) == [], "the processes of released slots may still exist"
    assert list_started_slots(core.handle(SlotReleased(0), make_time(9999.5))) == [0]
    assert list_runs(core.handle(SlotReady(0), make_time(9999.6))) == [(0, 7)]


def test_lost_slot_is_started_again_with_its_number() -> None:
    core = make_core(4)
    assert list_started_slots(core.handle(SlotLost(1, "ended"), make_time(1.0))) == [1]
    assert core.count_jobs_to_request(make_time(1.0)) == 3, (
        "the lost slot takes no job until it is ready"
    )


def test_slot_that_knows_the_task_is_preferred() -> None:
    core = make_core(2)
    grant_jobs(core, 1, task=ONE.uid)
    grant_jobs(core, 2, task=TENTH.uid)
    core.handle(make_attempt_ended(1), make_time(1.0))
    core.handle(make_attempt_ended(2, slot=1), make_time(2.0))
    assert list_runs(grant_jobs(core, 3, task=TENTH.uid, boot_time=3.0)) == [(1, 3)]


def test_prefetching_counts_running_jobs_and_not_all_slots() -> None:
    core = make_core(100)
    for number in list_started_slots(grant_jobs(core, *range(20), task=TENTH.uid)):
        core.handle(SlotReady(number), make_time(0))
    core.handle(make_attempt_ended(0, seconds=0.5), make_time(0.5))
    # 81 jobs could start, and 0.75 s of work for the 19 running jobs are 19 × 0.75 / 0.5 jobs.
    free_capacity = core.free_capacity(make_time(0.5), core.count_jobs_to_request(make_time(0.5)))
    assert free_capacity is not None
    assert (core.count_jobs_to_request(make_time(0.5)), free_capacity.ahead) == (81 + 28, 28)
