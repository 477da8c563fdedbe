"""Tools that stay loaded, as a pilot's core deals with them: which slot gets which job, and what
goes where there is no room."""

from dataclasses import replace
from functools import reduce
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from pilot.domain.core import PilotCore
from pilot.domain.model import (
    AttemptEnded,
    EndSlot,
    Instruction,
    LeaseGranted,
    LetSlotGo,
    PilotStarted,
    SlotLost,
    SlotReady,
    StartSlot,
    TimePassed,
    ToolUnloaded,
    Unload,
)
from pilot.domain.prefetch import PrefetchPolicy
from sluice.contracts.loaded import LoadedTool
from sluice.contracts.needs import Resources, Warm
from sluice.contracts.pilots import Lease, LeasedJob, PilotTask
from sluice.fit import Booked
from tests.unit.gpus import node
from tests.unit.pilot.domain.cores import EPOCH, at, ended, reports, runs, task


def warm(number: int, kind: str, *, ram: int = 1000) -> PilotTask:
    of = task(UUID(int=number), Resources(cores=1, ram=ram))
    needs = of.needs.model_copy(update={"warm": Warm(kind=kind)})
    return of.model_copy(update={"needs": needs, "step": f"step-{kind}"})


A, B = warm(1, "a"), warm(2, "b")
COLD, BIG = task(UUID(int=3), Resources(cores=1, ram=100)), task(UUID(int=4), Resources(ram=3500))


def core_of(slots: int, *, most: int | None = None, ram: int = 4000) -> PilotCore:
    policy = PrefetchPolicy(keep_idle=300.0, short=0.0)
    core = PilotCore(most or slots, policy, node(4, ram), few=slots)
    core.handle(PilotStarted(), at(0))
    for number in range(slots):
        core.handle(SlotReady(number), at(0))
    return core


def lease(core: PilotCore, of: PilotTask, *ids: int, tick: float = 0.0) -> list[Instruction]:
    jobs = [LeasedJob(id=one, attempt=1, task_uid=of.uid, seq=one, inputs=[]) for one in ids]
    return core.handle(LeaseGranted(tick, Lease(seconds=1e6, jobs=jobs, tasks=[of])), at(tick))


def end(
    core: PilotCore, job: int, slot: int, kind: str | None, *, tick: float
) -> list[Instruction]:
    """``kind``: of the tool that stays loaded."""
    told = None if kind is None else LoadedTool(kind=kind, step="s", since=EPOCH, jobs=1)
    event: AttemptEnded = replace(ended(job, slot=slot), loaded=told)
    return core.handle(event, at(tick))


def unloads(moves: list[Instruction]) -> list[int]:
    return [move.slot for move in moves if isinstance(move, Unload)]


def states(core: PilotCore) -> list[tuple[str, str]]:
    return [(tool.kind, tool.state.value) for tool in core.loaded]


def test_a_job_goes_where_its_tool_is_loaded_and_others_elsewhere() -> None:
    core = core_of(3)
    assert runs(lease(core, A, 1)) == [(0, 1)]
    end(core, 1, 0, "a", tick=1)
    assert runs(lease(core, COLD, 2)) == [(1, 2)]
    assert runs(lease(core, B, 3)) == [(2, 3)]
    assert runs(lease(core, A, 4)) == [(0, 4)]


def test_what_is_loaded_is_told_with_its_state() -> None:
    core = core_of(2)
    lease(core, A, 1)
    assert states(core) == [("a", "loading")]
    assert core.loaded[0].step == "step-a"
    end(core, 1, 0, "a", tick=1)
    assert states(core) == [("a", "idle")]
    lease(core, A, 2)
    assert states(core) == [("a", "working")]
    assert core.heartbeat().loaded == core.loaded
    end(core, 2, 0, None, tick=2)
    assert states(core) == []


def loaded_core(*, slots: int = 4, most: int | None = None) -> PilotCore:
    """Slot 0 has tool a loaded, slot 1 tool b."""
    core = core_of(slots, most=most)
    for number, (of, kind) in enumerate(((A, "a"), (B, "b"))):
        lease(core, of, number)
        end(core, number, number, kind, tick=number)
    return core


def test_a_job_that_needs_the_room_of_tools_begins_when_they_have_gone() -> None:
    core = loaded_core()
    moves = lease(core, BIG, 10, tick=5)
    assert (unloads(moves), runs(moves)) == ([0, 1], [])
    for event in (TimePassed(), ToolUnloaded(0), TimePassed()):
        moves = core.handle(event, at(6))
        assert (unloads(moves), runs(moves)) == ([], [])
        assert not any(isinstance(move, StartSlot) for move in moves)
    assert runs(core.handle(ToolUnloaded(1), at(7))) == [(0, 10)]


def test_meanwhile_none_passes_the_job_that_waits_for_room() -> None:
    core = loaded_core()
    lease(core, BIG, 10, tick=5)
    assert runs(lease(core, COLD, 11, tick=5)) == []
    core.handle(ToolUnloaded(0), at(6))
    assert runs(core.handle(ToolUnloaded(1), at(7))) == [(0, 10), (1, 11)]


def test_a_tool_that_does_not_go_is_ended_with_its_slot() -> None:
    core = loaded_core()
    lease(core, BIG, 10, tick=5)
    core.handle(ToolUnloaded(1), at(6))
    [report] = reports(core.handle(TimePassed(), at(5 + core.policy.return_after)))
    assert report.id == 10, "others may have room for it sooner"
    limit = 5 + core.policy.stop_limit
    assert core.next_check() == limit
    assert core.handle(TimePassed(), at(limit)) == [EndSlot(0)]
    assert core.handle(TimePassed(), at(limit + 1)) == []
    assert runs(lease(core, BIG, 11, tick=limit + 1)) == []
    assert runs(core.handle(SlotLost(0, "was killed"), at(limit + 2))) == [(1, 11)]


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("lease"), st.sampled_from([A, B, COLD, BIG])),
            st.tuples(st.sampled_from(["end", "unload", "lose", "time"]), st.integers(0, 3)),
        ),
        max_size=40,
    )
)
def test_what_runs_and_what_is_loaded_always_fit_beside_one_another(
    events: list[tuple[str, object]],
) -> None:
    core = core_of(4)
    jobs, running, leaving = 0, dict[int, list[int]](), set[int]()
    kinds: dict[int, str | None] = {}
    for tick, (word, what) in enumerate(events):
        moves: list[Instruction] = []
        slot = what if isinstance(what, int) else 0
        if isinstance(what, PilotTask):
            jobs += 1
            kinds[jobs] = what.needs.warm.kind if what.needs.warm else None
            moves = lease(core, what, jobs, tick=tick)
        elif word == "end" and running.get(slot):
            job = running[slot].pop(0)
            moves = end(core, job, slot, kinds[job], tick=tick)
        elif word == "unload" and slot in leaving:
            leaving.discard(slot)
            moves = core.handle(ToolUnloaded(slot), at(tick))
        elif word == "lose":
            leaving.discard(slot)
            running.pop(slot, None)
            moves = [
                *core.handle(SlotLost(slot, "was killed"), at(tick)),
                *core.handle(SlotReady(slot), at(tick)),
            ]
        elif word == "time":
            moves = core.handle(TimePassed(), at(tick))
        leaving |= set(unloads(moves))
        for number, job in runs(moves):
            assert number not in leaving
            running.setdefault(number, []).append(job)
        taken = [one.booked if one.queue else one.kept for one in core.slots]
        assert core.node.amounts.holds(reduce(Booked.plus, taken, Booked()))


def test_no_tool_goes_in_vain() -> None:
    core = core_of(4)
    lease(core, A, 1)
    end(core, 1, 0, "a", tick=1)
    assert runs(lease(core, warm(9, "c", ram=2500), 2, tick=2)) == [(1, 2)]
    moves = lease(core, BIG, 10, tick=5)
    assert (unloads(moves), runs(moves)) == ([], []), "it has no room beside the job that runs"
    assert ("a", "idle") in states(core)


def test_the_tool_goes_first_that_has_been_idle_the_longest() -> None:
    core = core_of(4)
    for number, of in enumerate((A, B)):
        lease(core, of, number)
    end(core, 1, 1, "b", tick=1)
    end(core, 0, 0, "a", tick=2)
    assert unloads(lease(core, warm(9, "c", ram=3000), 10, tick=5)) == [1]


def test_a_job_of_its_own_kind_has_the_room_that_the_tool_keeps() -> None:
    core = core_of(2, ram=1500)
    lease(core, A, 1)
    end(core, 1, 0, "a", tick=1)
    moves = lease(core, A, 2, tick=2)
    assert (unloads(moves), runs(moves)) == ([], [(0, 2)])


def test_where_all_slots_have_tools_a_new_one_is_started_or_one_is_replaced() -> None:
    core = core_of(1, most=2)
    lease(core, A, 1)
    end(core, 1, 0, "a", tick=1)
    moves = lease(core, B, 2, tick=2)
    assert [move for move in moves if isinstance(move, StartSlot)] == [StartSlot(1)]
    assert runs(core.handle(SlotReady(1), at(3))) == [(1, 2)]
    end(core, 2, 1, "b", tick=4)
    assert runs(lease(core, COLD, 3, tick=5)) == [(0, 3)], "the one that was idle the longest"


def test_only_a_job_of_the_same_kind_waits_behind_another_in_a_slot() -> None:
    policy = PrefetchPolicy(short=10.0)
    core = PilotCore(1, policy, node(4, 4000), few=1)
    core.handle(PilotStarted(), at(0))
    core.handle(SlotReady(0), at(0))
    lease(core, A, 1)
    end(core, 1, 0, "a", tick=0.1)
    assert runs(lease(core, A, 2, 3)) == [(0, 2), (0, 3)]
    end(core, 2, 0, "a", tick=0.2)
    assert runs(lease(core, COLD, 4)) == []


def test_a_slot_with_a_tool_stays_until_the_tool_has_gone() -> None:
    core = core_of(1, most=3)
    lease(core, A, 1, 2, 3)
    for number in (1, 2):
        core.handle(SlotReady(number), at(0))
    for number in range(3):
        end(core, number + 1, number, "a", tick=1)
    moves = core.handle(TimePassed(), at(1000))
    assert not any(isinstance(move, LetSlotGo) for move in moves)
    core.handle(ToolUnloaded(2), at(1000))
    moves = core.handle(TimePassed(), at(1000))
    assert [move for move in moves if isinstance(move, LetSlotGo)] == [LetSlotGo(2)]


def test_a_slot_that_is_lost_has_lost_its_tool() -> None:
    core = core_of(1)
    lease(core, A, 1)
    end(core, 1, 0, "a", tick=1)
    core.handle(SlotLost(0, "was killed"), at(2))
    assert states(core) == []
