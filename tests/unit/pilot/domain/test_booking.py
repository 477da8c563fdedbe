"""Tests that the jobs on a node never need more than the capacity of the node."""

from collections.abc import Iterable
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pilot.domain.core import PilotCore
from pilot.domain.model import (
    DrainRequested,
    HeartbeatAnswered,
    Instruction,
    KillSlot,
    LeaseGranted,
    PilotStarted,
    ReleaseSlot,
    RunJob,
    ShutdownRequested,
    SlotLost,
    SlotReady,
    SlotReleased,
    StartSlot,
    TimePassed,
)
from pilot.domain.prefetch import PrefetchPolicy
from sluice.contracts.common.states import AttemptOutcome
from sluice.contracts.jobs.gpus import GpuNeeds
from sluice.contracts.jobs.needs import Resources
from sluice.contracts.pilots.heartbeats import Command, HeartbeatAnswer
from sluice.contracts.pilots.leases import JobToken, Lease, LeasedJob, PilotTask
from sluice.scheduling.fit import Allocation, GpuPart
from tests.unit.gpus import make_gpu, make_node
from tests.unit.pilot.domain.cores import (
    list_reports,
    list_runs,
    make_attempt_ended,
    make_core,
    make_task,
    make_time,
)

GPUS = [make_gpu("GPU-0"), make_gpu("GPU-1", memory=8_000)]
NODE = make_node(8, 16_000, *GPUS)
BIG, SMALL = UUID(int=8), UUID(int=1)
MAX_SLOTS = 6
LICENSED = UUID(int=10)
KINDS = {
    BIG: make_task(BIG, Resources(cores=8)),
    SMALL: make_task(SMALL, Resources(cores=1)),
    UUID(int=2): make_task(UUID(int=2), Resources(cores=0.3, ram=5_000)),
    UUID(int=3): make_task(UUID(int=3), Resources(cores=3, ram=100), GpuNeeds()),
    UUID(int=4): make_task(UUID(int=4), Resources(cores=2.5, ram=16_000)),
    UUID(int=6): make_task(UUID(int=6), Resources(cores=0.5), GpuNeeds(share=0.5, memory=5_000)),
    UUID(int=7): make_task(UUID(int=7), Resources(cores=0.5), GpuNeeds(share=0.3)),
    UUID(int=9): make_task(UUID(int=9), Resources(cores=1), GpuNeeds(least=2, most=2)),
}


def make_lease_of_kinds(
    *jobs: tuple[int, UUID],
    ram: int | None = None,
    known_tasks: Iterable[PilotTask] = KINDS.values(),
) -> Lease:
    leased_jobs = [
        LeasedJob(id=number, attempt=1, task_uid=uid, seq=number, inputs=[], ram=ram)
        for number, uid in jobs
    ]
    return Lease(seconds=1e6, jobs=leased_jobs, tasks=list(known_tasks))


def grant_lease_of_kinds(
    core: PilotCore, *jobs: tuple[int, UUID], boot_time: float = 0.0
) -> list[Instruction]:
    return core.handle(LeaseGranted(boot_time, make_lease_of_kinds(*jobs)), make_time(boot_time))


def test_jobs_that_need_all_cores_run_one_after_the_other() -> None:
    core = make_core(8, node=NODE)
    assert list_runs(grant_lease_of_kinds(core, *((number, BIG) for number in range(8)))) == [
        (0, 0)
    ]
    for number in range(7):
        assert list_runs(core.handle(make_attempt_ended(number), make_time(1.0))) == [
            (0, number + 1)
        ]


def test_small_jobs_do_not_overtake_a_big_job() -> None:
    core = make_core(8, node=NODE)
    assert len(list_runs(grant_lease_of_kinds(core, (1, SMALL), (2, SMALL)))) == 2
    assert list_runs(grant_lease_of_kinds(core, (3, BIG), (4, SMALL), boot_time=1.0)) == []
    assert core.count_jobs_to_request(make_time(1.0)) == 0
    assert list_runs(core.handle(make_attempt_ended(1), make_time(2.0))) == []
    assert list_runs(core.handle(make_attempt_ended(2, slot=1), make_time(3.0))) == [(0, 3)]
    assert list_runs(core.handle(make_attempt_ended(3), make_time(4.0))) == [(0, 4)]


def test_job_that_does_not_fit_is_returned_and_the_next_job_runs() -> None:
    core = make_core(8, node=NODE, policy=PrefetchPolicy(return_after=5.0))
    grant_lease_of_kinds(core, (1, SMALL))
    assert list_runs(grant_lease_of_kinds(core, (2, BIG), (3, SMALL), boot_time=1.0)) == []
    instructions = core.handle(TimePassed(), make_time(6.0))
    assert [(report.id, report.outcome) for report in list_reports(instructions)] == [
        (2, AttemptOutcome.RETURNED)
    ]
    assert list_runs(instructions) == [(1, 3)]


def test_queued_job_of_a_slot_allocates_only_what_it_needs_in_addition() -> None:
    core = make_core(2, node=make_node(4, 16_000), policy=PrefetchPolicy(short=10.0))
    grant_lease_of_kinds(core, (1, SMALL))
    core.handle(make_attempt_ended(1, seconds=0.01), make_time(1.0))
    three = make_task(UUID(int=5), Resources(cores=3))
    core.handle(
        LeaseGranted(
            2.0,
            make_lease_of_kinds(
                (2, SMALL),
                (3, SMALL),
                (4, three.uid),
                (5, SMALL),
                known_tasks=[*KINDS.values(), three],
            ),
        ),
        make_time(2.0),
    )
    assert [[entry.job.id for entry in slot.queue] for slot in core.slots] == [[2, 4], [3, 5]]
    assert core.free == Allocation(0, 16_000 - 512)
    core.handle(make_attempt_ended(2), make_time(3.0))
    assert core.free == Allocation(0, 16_000 - 512)
    core.handle(make_attempt_ended(4), make_time(4.0))
    assert core.free == Allocation(3, 16_000 - 256)


def test_lease_request_has_the_free_and_the_soon_free_capacity() -> None:
    core = make_core(8, node=NODE, policy=PrefetchPolicy(horizon=0.75))
    grant_lease_of_kinds(core, (1, UUID(int=3)), boot_time=10.0)
    grant_lease_of_kinds(core, (2, SMALL), boot_time=11.0)
    assert core.count_jobs_to_request(make_time(11.0)) == 6
    free_capacity = core.free_capacity(make_time(11.0), 6)
    assert free_capacity is not None
    assert (free_capacity.free.cores, free_capacity.free.ram, free_capacity.ahead) == (
        4,
        16_000 - 356,
        0,
    )
    assert [left.uuid for left in free_capacity.free.gpus] == ["GPU-0"], (
        "the smaller GPU was enough"
    )
    assert (free_capacity.soon.cores, free_capacity.soon.ram, free_capacity.soon.gpus) == (
        5,
        15_900,
        free_capacity.free.gpus,
    )
    grant_lease_of_kinds(core, (3, SMALL), (4, SMALL), (5, SMALL), (6, SMALL), boot_time=11.0)
    assert core.count_jobs_to_request(make_time(11.0)) == 0
    assert make_core(8).free_capacity(make_time(0), 3) is None


def test_lease_request_counts_prefetched_jobs_separately() -> None:
    core = make_core(2, node=make_node(2, 16_000))
    grant_lease_of_kinds(core, (1, SMALL))
    core.handle(make_attempt_ended(1, seconds=0.1), make_time(1.0))
    requested_jobs = core.count_jobs_to_request(make_time(1.0))
    free_capacity = core.free_capacity(make_time(1.0), requested_jobs)
    assert free_capacity is not None
    assert (requested_jobs, free_capacity.ahead) == (17, 15)


_moves = st.lists(
    st.one_of(
        st.tuples(
            st.just("lease"), st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=6)
        ),
        st.tuples(st.just("end"), st.integers(0, 5)),
        st.tuples(st.just("lose"), st.integers(0, MAX_SLOTS - 1)),
        st.tuples(st.just("cancel"), st.integers(1, 40)),
        st.tuples(st.just("wait"), st.floats(0, 10)),
        st.tuples(st.sampled_from(["ready", "left"]), st.integers(0, MAX_SLOTS - 1)),
        st.tuples(st.sampled_from(["drain", "shutdown"]), st.none()),
    ),
    max_size=60,
)


def make_part(uuid: str, needs: GpuNeeds | None) -> GpuPart:
    """Return the part of this device that a job takes."""
    assert needs is not None
    [memory] = [node_gpu.memory for node_gpu in GPUS if node_gpu.uuid == uuid]
    return GpuPart(needs.share, needs.memory or int(needs.share * memory))


class SimulatedNode:
    """A node whose slots carry out the instructions of the core and run the first job of their
    queue. ``killed`` has the slots that are about to end."""

    def __init__(self, short: float) -> None:
        policy = PrefetchPolicy(short=short, grace=1.0, patience=4.0, keep_idle=6.0)
        self.core = PilotCore(MAX_SLOTS, policy, NODE, min_slots=2)
        self.killed: set[int] = set()
        self.leaving: set[int] = set()
        self.starting: set[int] = set()
        self.queues: dict[int, list[RunJob]] = {}
        self.boot_time = 0.0
        self.number = 0
        self.follow_instructions(self.core.handle(PilotStarted(), make_time(0)))

    def follow_instructions(self, instructions: list[Instruction]) -> None:
        for instruction in instructions:
            if isinstance(instruction, KillSlot):
                assert self.queues[instruction.slot]
                assert instruction.slot not in self.killed
                self.killed.add(instruction.slot)
            if isinstance(instruction, RunJob):
                assert instruction.slot not in self.killed | self.leaving | self.starting
                self.queues[instruction.slot].append(instruction)
            if isinstance(instruction, StartSlot):
                assert instruction.slot not in self.starting | self.leaving
                assert not self.queues.setdefault(instruction.slot, [])
                self.starting.add(instruction.slot)
            if isinstance(instruction, ReleaseSlot):
                assert not self.queues[instruction.slot]
                self.leaving.add(instruction.slot)
        assert len(self.queues) <= MAX_SLOTS

    def sum_running(self) -> Allocation:
        total = Allocation()
        for queue in self.queues.values():
            if queue:
                needs = KINDS[queue[0].job.task_uid].needs
                allocation = {uuid: make_part(uuid, needs.gpu) for uuid in queue[0].gpus}
                assert needs.gpu is None or len(allocation) == needs.gpu.least
                total += Allocation(needs.resources.cores, needs.resources.ram, allocation)
        return total

    def apply_event(self, kind: str, value: object) -> None:
        now = make_time(self.boot_time)
        match kind, value:
            case "lease", list(kinds):
                jobs = [(self.number + place, uid) for place, uid in enumerate(kinds, 1)]
                self.number += len(kinds)
                self.follow_instructions(
                    self.core.handle(LeaseGranted(self.boot_time, make_lease_of_kinds(*jobs)), now)
                )
            case "end", int(place):
                busy = [slot for slot, queue in self.queues.items() if queue]
                if busy:
                    self.end_job(busy[place % len(busy)])
            case "lose", int(slot) if slot in self.queues.keys() - self.starting - self.leaving:
                self.queues[slot].clear()
                self.killed.discard(slot)
                self.follow_instructions(self.core.handle(SlotLost(slot, "ended"), now))
            case "ready", int(slot) if slot in self.starting:
                self.starting.remove(slot)
                self.follow_instructions(self.core.handle(SlotReady(slot), now))
            case "left", int(slot) if slot in self.leaving:
                self.leaving.remove(slot)
                del self.queues[slot]
                self.follow_instructions(self.core.handle(SlotReleased(slot), now))
            case "cancel", int(number):
                command = Command(kind="cancel", job=JobToken(id=number, attempt=1))
                answer = HeartbeatAnswer(lease=1e6, commands=[command])
                self.follow_instructions(
                    self.core.handle(
                        HeartbeatAnswered(self.boot_time, self.core.heartbeat(), answer), now
                    )
                )
            case "wait", float(seconds):
                self.boot_time += seconds
                self.follow_instructions(self.core.handle(TimePassed(), make_time(self.boot_time)))
                self.require_stopped()
            case "drain", _:
                self.follow_instructions(self.core.handle(DrainRequested(), now))
            case "shutdown", _:
                self.follow_instructions(self.core.handle(ShutdownRequested(), now))

    def finish_transitions(self) -> None:
        """Let all slots start, leave or end as instructed."""
        while self.killed or self.starting or self.leaving:
            for slot in list(self.queues):
                if slot in self.killed:
                    self.apply_event("lose", slot)
                self.apply_event("ready", slot)
                self.apply_event("left", slot)

    def require_stopped(self) -> None:
        """Check that each job with an old stop has ended or that its slot is being killed."""
        for slot in self.core.slots:
            first = slot.queue[0] if slot.queue else None
            if (
                first is not None
                and first.stopped_at is not None
                and slot.number not in self.killed
            ):
                assert self.boot_time < max(first.stopped_at, slot.since) + 5.0

    def end_job(self, slot: int) -> None:
        job = self.queues[slot].pop(0).job
        self.follow_instructions(
            self.core.handle(
                make_attempt_ended(job.id, slot=slot, seconds=0.1), make_time(self.boot_time)
            )
        )


@pytest.mark.parametrize("short", [0.0, 10.0], ids=["one a slot", "two a slot"])
@given(events=_moves)
def test_capacity_is_never_overbooked_and_all_of_it_is_released(
    short: float, events: list[tuple[str, object]]
) -> None:
    node = SimulatedNode(short)
    for kind, value in events:
        node.apply_event(kind, value)
        assert NODE.amounts.contains(node.sum_running())
        assert node.core.free.contains(Allocation())
        assert (NODE.amounts - node.core.free).contains(node.sum_running())
    node.finish_transitions()
    while any(node.queues.values()):
        node.end_job(next(slot for slot, queue in node.queues.items() if queue))
        assert NODE.amounts.contains(node.sum_running())
        node.finish_transitions()
    assert node.core.free.amounts() == NODE.amounts.amounts()
    assert node.core.idle
    for _ in range(2):
        node.apply_event("wait", 10.0)
        node.finish_transitions()
    assert len(node.queues) == len(node.core.slots) == 2
