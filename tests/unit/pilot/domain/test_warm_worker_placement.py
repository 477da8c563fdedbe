"""Tests of how the core of a pilot places jobs with warm workers, and which workers it unloads when
capacity is short."""

from dataclasses import replace
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from pilot.domain.core import PilotCore
from pilot.domain.model import (
    AttemptEnded,
    Event,
    Instruction,
    KillSlot,
    LeaseGranted,
    PilotStarted,
    ReleaseSlot,
    SlotLost,
    SlotReady,
    StartSlot,
    TimePassed,
    ToolUnloaded,
    UnloadWarmWorker,
)
from pilot.domain.prefetch import PrefetchPolicy
from sluice.contracts.jobs.needs import Resources, Warm
from sluice.contracts.jobs.warm_workers import WarmWorkerState
from sluice.contracts.pilots.leases import Lease, LeasedJob, PilotTask
from sluice.scheduling.fit import Allocation
from tests.unit.gpus import make_node
from tests.unit.pilot.domain.cores import (
    EPOCH,
    list_reports,
    list_runs,
    make_attempt_ended,
    make_task,
    make_time,
)


def make_warm_task(number: int, kind: str, *, ram: int = 1000) -> PilotTask:
    leased_task = make_task(UUID(int=number), Resources(cores=1, ram=ram))
    needs = leased_task.needs.model_copy(update={"warm": Warm(kind=kind)})
    return leased_task.model_copy(update={"needs": needs, "step": f"step-{kind}"})


A, B = make_warm_task(1, "a"), make_warm_task(2, "b")
COLD, BIG = (
    make_task(UUID(int=3), Resources(cores=1, ram=100)),
    make_task(UUID(int=4), Resources(ram=3500)),
)


def make_core(
    slots: int, *, max_slots: int | None = None, ram: int = 4000, short: float = 0.0
) -> PilotCore:
    policy = PrefetchPolicy(keep_idle=300.0, short=short)
    core = PilotCore(max_slots or slots, policy, make_node(4, ram), min_slots=slots)
    core.handle(PilotStarted(), make_time(0))
    for number in range(slots):
        core.handle(SlotReady(number), make_time(0))
    return core


def grant_jobs(
    core: PilotCore, leased_task: PilotTask, *ids: int, boot_time: float = 0.0
) -> list[Instruction]:
    jobs = [
        LeasedJob(id=one, attempt=1, task_uid=leased_task.uid, seq=one, inputs=[]) for one in ids
    ]
    return core.handle(
        LeaseGranted(boot_time, Lease(seconds=1e6, jobs=jobs, tasks=[leased_task])),
        make_time(boot_time),
    )


def end_job(
    core: PilotCore, job: int, slot: int, kind: str | None, *, boot_time: float
) -> list[Instruction]:
    """End a job. ``kind`` is the kind of the worker that stays loaded."""
    warm_state = None if kind is None else WarmWorkerState(kind=kind, step="s", since=EPOCH, jobs=1)
    event: AttemptEnded = replace(make_attempt_ended(job, slot=slot), loaded=warm_state)
    return core.handle(event, make_time(boot_time))


def list_unloaded_slots(instructions: list[Instruction]) -> list[int]:
    return [move.slot for move in instructions if isinstance(move, UnloadWarmWorker)]


def list_worker_states(core: PilotCore) -> list[tuple[str, str]]:
    return [(tool.kind, tool.state.value) for tool in core.warm_workers]


def test_job_runs_in_the_slot_of_its_warm_worker_and_other_jobs_do_not() -> None:
    core = make_core(3)
    assert list_runs(grant_jobs(core, A, 1)) == [(0, 1)]
    end_job(core, 1, 0, "a", boot_time=1)
    assert list_runs(grant_jobs(core, COLD, 2)) == [(1, 2)]
    assert list_runs(grant_jobs(core, B, 3)) == [(2, 3)]
    assert list_runs(grant_jobs(core, A, 4)) == [(0, 4)]


def test_heartbeat_lists_warm_workers_with_their_states() -> None:
    core = make_core(2)
    grant_jobs(core, A, 1)
    assert list_worker_states(core) == [("a", "loading")]
    assert core.warm_workers[0].step == "step-a"
    end_job(core, 1, 0, "a", boot_time=1)
    assert list_worker_states(core) == [("a", "idle")]
    grant_jobs(core, A, 2)
    assert list_worker_states(core) == [("a", "working")]
    assert core.heartbeat().loaded == core.warm_workers
    end_job(core, 2, 0, None, boot_time=2)
    assert list_worker_states(core) == []


def make_loaded_core(*, slots: int = 4, max_slots: int | None = None) -> PilotCore:
    """Return a core with worker a in slot 0 and worker b in slot 1."""
    core = make_core(slots, max_slots=max_slots)
    for number, (leased_task, kind) in enumerate(((A, "a"), (B, "b"))):
        grant_jobs(core, leased_task, number)
        end_job(core, number, number, kind, boot_time=number)
    return core


def test_job_that_needs_the_memory_of_warm_workers_starts_after_they_unloaded() -> None:
    core = make_loaded_core()
    instructions = grant_jobs(core, BIG, 10, boot_time=5)
    assert (list_unloaded_slots(instructions), list_runs(instructions)) == ([0, 1], [])
    for event in (TimePassed(), ToolUnloaded(0), TimePassed()):
        instructions = core.handle(event, make_time(6))
        assert (list_unloaded_slots(instructions), list_runs(instructions)) == ([], [])
        assert not any(isinstance(move, StartSlot) for move in instructions)
    assert list_runs(core.handle(ToolUnloaded(1), make_time(7))) == [(0, 10)]


def test_small_jobs_do_not_overtake_a_job_that_waits_for_warm_workers_to_unload() -> None:
    core = make_loaded_core()
    grant_jobs(core, BIG, 10, boot_time=5)
    assert list_runs(grant_jobs(core, COLD, 11, boot_time=5)) == []
    core.handle(ToolUnloaded(0), make_time(6))
    assert list_runs(core.handle(ToolUnloaded(1), make_time(7))) == [(0, 10), (1, 11)]


def test_slot_of_a_warm_worker_that_does_not_unload_is_killed() -> None:
    core = make_loaded_core()
    grant_jobs(core, BIG, 10, boot_time=5)
    core.handle(ToolUnloaded(1), make_time(6))
    [report] = list_reports(core.handle(TimePassed(), make_time(5 + core.policy.return_after)))
    assert report.id == 10, "another pilot may have capacity for the job sooner"
    limit = 5 + core.policy.stop_limit
    assert core.next_check() == limit
    assert core.handle(TimePassed(), make_time(limit)) == [KillSlot(0)]
    assert core.handle(TimePassed(), make_time(limit + 1)) == []
    assert list_runs(grant_jobs(core, BIG, 11, boot_time=limit + 1)) == []
    assert list_runs(core.handle(SlotLost(0, "was killed"), make_time(limit + 2))) == [(1, 11)]


class SimulatedPilot:
    """A core of two slots, which can become four, with slots that carry out its instructions."""

    def __init__(self, short: float) -> None:
        self.core = make_core(2, max_slots=4, short=short)
        self.jobs, self.boot_time = 0, 0.0
        self.kinds: dict[int, str | None] = {}
        self.running: dict[int, list[int]] = {0: [], 1: []}
        self.leaving, self.starting = set[int](), set[int]()

    def apply_event(self, word: str, what: PilotTask | int) -> None:
        self.boot_time += 1
        if isinstance(what, PilotTask):
            self.jobs += 1
            self.kinds[self.jobs] = what.needs.warm.kind if what.needs.warm else None
            self.follow_instructions(
                grant_jobs(self.core, what, self.jobs, boot_time=self.boot_time)
            )
        elif word == "end" and self.running.get(what):
            job = self.running[what].pop(0)
            self.follow_instructions(
                end_job(self.core, job, what, self.kinds[job], boot_time=self.boot_time)
            )
        elif word == "unload" and what in self.leaving:
            self.leaving.discard(what)
            self.handle_event(ToolUnloaded(what))
        elif word == "ready" and what in self.starting:
            self.starting.discard(what)
            self.handle_event(SlotReady(what))
        elif word == "lose" and what in self.running and what not in self.starting:
            self.leaving.discard(what)
            self.running[what].clear()
            self.handle_event(SlotLost(what, "was killed"))
        elif word == "time":
            self.handle_event(TimePassed())

    def handle_event(self, event: Event) -> None:
        self.follow_instructions(self.core.handle(event, make_time(self.boot_time)))

    def follow_instructions(self, instructions: list[Instruction]) -> None:
        for move in instructions:
            if isinstance(move, StartSlot):
                self.starting.add(move.slot)
                self.running[move.slot] = []
        self.leaving |= set(list_unloaded_slots(instructions))
        for slot, job in list_runs(instructions):
            assert slot not in self.leaving | self.starting
            self.running[slot].append(job)


@given(
    st.sampled_from([0.0, 100.0]),
    st.lists(
        st.one_of(
            st.tuples(st.just("lease"), st.sampled_from([A, B, COLD, BIG])),
            st.tuples(
                st.sampled_from(["end", "unload", "ready", "lose", "time"]), st.integers(0, 3)
            ),
        ),
        max_size=40,
    ),
)
def test_running_jobs_and_warm_workers_never_exceed_the_capacity(
    short: float, events: list[tuple[str, PilotTask | int]]
) -> None:
    simulated = SimulatedPilot(short)
    for word, what in events:
        simulated.apply_event(word, what)
        chosen_slots = [
            one.allocation if one.queue else one.warm_worker_allocation
            for one in simulated.core.slots
        ]
        assert simulated.core.node.amounts.contains(sum(chosen_slots, Allocation()))


def test_job_is_not_queued_if_it_needs_the_memory_of_a_warm_worker() -> None:
    core = make_core(2, max_slots=3, short=100.0)
    grant_jobs(core, A, 1)
    end_job(core, 1, 0, "a", boot_time=1)
    assert list_runs(grant_jobs(core, COLD, 2, boot_time=2)) == [(1, 2)]
    instructions = grant_jobs(core, BIG, 3, boot_time=3)
    assert (list_runs(instructions), list_unloaded_slots(instructions)) == ([], [])
    assert [move for move in instructions if isinstance(move, StartSlot)] == [StartSlot(2)]
    assert list_unloaded_slots(core.handle(SlotReady(2), make_time(4))) == [0]
    assert list_runs(core.handle(ToolUnloaded(0), make_time(5))) == [(0, 3)]


def test_warm_worker_is_kept_if_its_memory_would_not_suffice_for_the_job() -> None:
    core = make_core(4)
    grant_jobs(core, A, 1)
    end_job(core, 1, 0, "a", boot_time=1)
    assert list_runs(grant_jobs(core, make_warm_task(9, "c", ram=2500), 2, boot_time=2)) == [(1, 2)]
    instructions = grant_jobs(core, BIG, 10, boot_time=5)
    assert (list_unloaded_slots(instructions), list_runs(instructions)) == ([], []), (
        "the job does not fit beside the job that runs"
    )
    assert ("a", "idle") in list_worker_states(core)


def test_warm_worker_that_was_idle_the_longest_is_unloaded_first() -> None:
    core = make_core(4)
    for number, leased_task in enumerate((A, B)):
        grant_jobs(core, leased_task, number)
    end_job(core, 1, 1, "b", boot_time=1)
    end_job(core, 0, 0, "a", boot_time=2)
    assert list_unloaded_slots(
        grant_jobs(core, make_warm_task(9, "c", ram=3000), 10, boot_time=5)
    ) == [1]


def test_job_can_use_the_memory_of_its_own_warm_worker() -> None:
    core = make_core(2, ram=1500)
    grant_jobs(core, A, 1)
    end_job(core, 1, 0, "a", boot_time=1)
    instructions = grant_jobs(core, A, 2, boot_time=2)
    assert (list_unloaded_slots(instructions), list_runs(instructions)) == ([], [(0, 2)])


def test_job_gets_a_new_slot_or_replaces_a_warm_worker() -> None:
    core = make_core(1, max_slots=2)
    grant_jobs(core, A, 1)
    end_job(core, 1, 0, "a", boot_time=1)
    instructions = grant_jobs(core, B, 2, boot_time=2)
    assert [move for move in instructions if isinstance(move, StartSlot)] == [StartSlot(1)]
    assert list_runs(core.handle(SlotReady(1), make_time(3))) == [(1, 2)]
    end_job(core, 2, 1, "b", boot_time=4)
    assert list_runs(grant_jobs(core, COLD, 3, boot_time=5)) == [(0, 3)], (
        "the worker that was idle the longest is replaced"
    )


def test_only_jobs_of_the_same_kind_are_queued_behind_a_warm_worker() -> None:
    policy = PrefetchPolicy(short=10.0)
    core = PilotCore(1, policy, make_node(4, 4000), min_slots=1)
    core.handle(PilotStarted(), make_time(0))
    core.handle(SlotReady(0), make_time(0))
    grant_jobs(core, A, 1)
    end_job(core, 1, 0, "a", boot_time=0.1)
    assert list_runs(grant_jobs(core, A, 2, 3)) == [(0, 2), (0, 3)]
    end_job(core, 2, 0, "a", boot_time=0.2)
    assert list_runs(grant_jobs(core, COLD, 4)) == []


def test_slot_with_a_warm_worker_is_not_released() -> None:
    core = make_core(1, max_slots=3)
    grant_jobs(core, A, 1, 2, 3)
    for number in (1, 2):
        core.handle(SlotReady(number), make_time(0))
    for number in range(3):
        end_job(core, number + 1, number, "a", boot_time=1)
    instructions = core.handle(TimePassed(), make_time(1000))
    assert not any(isinstance(move, ReleaseSlot) for move in instructions)
    core.handle(ToolUnloaded(2), make_time(1000))
    instructions = core.handle(TimePassed(), make_time(1000))
    assert [move for move in instructions if isinstance(move, ReleaseSlot)] == [ReleaseSlot(2)]


def test_lost_slot_has_no_warm_worker() -> None:
    core = make_core(1)
    grant_jobs(core, A, 1)
    end_job(core, 1, 0, "a", boot_time=1)
    core.handle(SlotLost(0, "was killed"), make_time(2))
    assert list_worker_states(core) == []
