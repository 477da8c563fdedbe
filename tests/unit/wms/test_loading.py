"""Choice of the warm tools of a pilot: the input of the policy, and the use of its answer."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID

from sluice.contracts.jobs.needs import Needs, Warm
from wms.db.pilots.loaded_kinds import ActiveStep, KindUsage
from wms.db.pilots.pilot_times import PilotIdentity, WorkKind
from wms.domain.placement.loading import KindFacts, choose_preferred_kinds, group_waiting_kinds
from wms.domain.placement.policy import Kind, Move, WarmSlot
from wms.domain.placement.reward_rate import RewardRate
from wms.domain.scheduling.matching import WARM_RANK_BONUS, Demand
from wms.domain.scheduling.pilot_times import PilotTimes
from wms.usecases.leasing.kind_facts import build_kind_facts

OLD = datetime(2026, 1, 1, tzinfo=UTC)
#: A layout job takes 2 s and has 10 s of downstream work; read takes 10 s and has none.
#: Each kind takes 5 s to load.
FACTS = {"layout": KindFacts(2.0, 10.0, 5.0, 1), "read": KindFacts(10.0, 0.0, 5.0, 1)}


def make_demand(kind: str | None, ready: int, *, rank: float = 1.0, waited: float = 0.0) -> Demand:
    warm = None if kind is None else Warm(kind=kind)
    return Demand(UUID(int=1), rank, OLD, ready, Needs(warm=warm), waited=waited)


def choose_kinds(*demands: Demand, loaded: Sequence[str] = ()) -> set[str]:
    return set(choose_preferred_kinds(RewardRate(), demands, loaded, FACTS))


def test_loaded_kind_is_preferred_while_few_jobs_of_later_steps_wait() -> None:
    assert choose_kinds(make_demand("layout", 5), make_demand("read", 1), loaded=["layout"]) == {
        "layout"
    }


def test_loaded_kind_gives_way_to_a_later_stage_worth_a_load() -> None:
    assert choose_kinds(make_demand("layout", 5), make_demand("read", 50), loaded=["layout"]) == {
        "read"
    }


def test_later_stage_does_not_give_way_to_an_earlier_stage() -> None:
    assert choose_kinds(make_demand("layout", 500), make_demand("read", 1), loaded=["read"]) == {
        "read"
    }


def test_pilot_without_loaded_tool_loads_the_kind_with_the_highest_reward() -> None:
    assert choose_kinds(make_demand("layout", 5), make_demand("read", 50)) == {"read"}
    assert choose_kinds(make_demand("layout", 50), make_demand("read", 1)) == {"layout"}


def test_loaded_kinds_with_ready_jobs_are_preferred() -> None:
    both = ["read", "layout"]
    assert choose_kinds(make_demand("read", 9), loaded=both) == {"read"}
    assert choose_kinds(make_demand("read", 9), make_demand("layout", 9), loaded=both) == {
        "read",
        "layout",
    }


def test_neglected_kind_goes_first() -> None:
    facts = {**FACTS, "read": KindFacts(10.0, 0.0, 5.0, 0)}
    waits = [make_demand("layout", 5), make_demand("read", 1, waited=1000.0)]
    assert choose_preferred_kinds(RewardRate(), waits, ["layout"], facts) == {"read"}


def test_outranked_kind_is_ignored() -> None:
    low = make_demand("layout", 500, rank=1.0)
    high = make_demand("read", 1, rank=1.0 + WARM_RANK_BONUS + 0.01)
    assert choose_kinds(low, high, loaded=["layout"]) == {"read"}
    assert list(group_waiting_kinds([low, high, make_demand(None, 9, rank=50)])) == ["read"]


@dataclass
class RecordingPolicy:
    """A policy that records its input."""

    every: float | None = None
    weighs_priority: bool = False
    calls: list[tuple[list[Kind], WarmSlot]] = field(default_factory=list)

    def next_kind(self, kinds: Sequence[Kind], slot: WarmSlot, now: float) -> int | None:
        self.calls.append((list(kinds), slot))
        return None

    def moves(self, kinds: Sequence[Kind], slots: Sequence[WarmSlot], now: float) -> list[Move]:
        return []


def test_policy_gets_the_totals_of_all_tasks_of_a_kind() -> None:
    policy = RecordingPolicy()
    waits = [make_demand("read", 2, waited=7.0), make_demand("read", 3), make_demand("new", 1)]
    assert choose_preferred_kinds(policy, waits, ["layout"], FACTS) == frozenset()
    [(kinds, slot)] = policy.calls
    assert [(kind.name, kind.ready, kind.assigned_slots) for kind in kinds] == [
        ("read", 5, 1), ("new", 1, 0), ("layout", 0, 1),
    ]  # fmt: skip
    assert (kinds[0].mean, kinds[0].loading, kinds[0].oldest_ready_at) == (10.0, 5.0, -7.0)
    assert (kinds[1].mean, kinds[1].loading) == (0.0, 1.0), "an unknown kind has default times"
    assert (slot.assigned_kind, list(slot.suitable_kinds)) == (2, [0, 1])


def test_facts_about_a_kind_combine_its_steps_and_their_downstream_steps() -> None:
    works = {step: WorkKind("t", step) for step in ("layout", "read", "export")}
    steps = [
        ActiveStep(works["layout"], "a", 0),
        ActiveStep(works["read"], "b", 1),
        ActiveStep(works["read"], "b with another model", 1),
        ActiveStep(works["export"], None, 2),
        ActiveStep(WorkKind("other", "export"), None, 2),
    ]
    identity = PilotIdentity("p", "h")
    times = {
        work: {identity: PilotTimes().finished(seconds)}
        for work, seconds in zip(works.values(), (2.0, 10.0, 1.0), strict=True)
    }
    times[WorkKind("other", "export")] = {identity: PilotTimes().finished(99.0)}
    facts = build_kind_facts(steps, times, {"a": KindUsage(3, 4.0), "gone": KindUsage(1, 0.0)})
    assert {
        kind: (round(f.mean, 6), round(f.downstream_seconds, 6)) for kind, f in facts.items()
    } == {
        "a": (2.0, 11.0),
        "b": (10.0, 1.0),
        "b with another model": (10.0, 1.0),
        "gone": (0.0, 0.0),
    }
    assert (facts["a"].assigned_slots, facts["a"].loading, facts["b"].assigned_slots) == (3, 4.0, 0)
