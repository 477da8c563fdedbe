"""Which of the tools that stay loaded a pilot is to work with: what the policy is told, and what
becomes of its answer."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID

from sluice.contracts.needs import Needs, Warm
from wms.db.loaded_kinds import ActiveStep, KindUsage
from wms.db.worker_times import Worker, WorkKind
from wms.domain.loading import KindFacts, preferred_kinds, waiting_kinds
from wms.domain.matching import SWITCH, Demand
from wms.domain.placement import Kind, Move, Place
from wms.domain.reward_rate import RewardRate
from wms.domain.worker_times import WorkerTimes
from wms.usecases.choose_kinds import facts_of

OLD = datetime(2026, 1, 1, tzinfo=UTC)
#: Layout takes 2 s and has 10 s of work behind it, reading 10 s and none; each loads in 5 s.
FACTS = {"layout": KindFacts(2.0, 10.0, 5.0, 1), "read": KindFacts(10.0, 0.0, 5.0, 1)}


def demand(kind: str | None, ready: int, *, rank: float = 1.0, waited: float = 0.0) -> Demand:
    warm = None if kind is None else Warm(kind=kind)
    return Demand(UUID(int=1), rank, OLD, ready, Needs(warm=warm), waited=waited)


def chosen(*demands: Demand, loaded: Sequence[str] = ()) -> set[str]:
    return set(preferred_kinds(RewardRate(), demands, loaded, FACTS))


def test_what_is_loaded_goes_on_where_little_else_waits() -> None:
    assert chosen(demand("layout", 5), demand("read", 1), loaded=["layout"]) == {"layout"}


def test_it_is_left_for_a_later_stage_once_that_is_worth_a_load() -> None:
    assert chosen(demand("layout", 5), demand("read", 50), loaded=["layout"]) == {"read"}


def test_a_later_stage_is_not_left_for_an_earlier_one() -> None:
    assert chosen(demand("layout", 500), demand("read", 1), loaded=["read"]) == {"read"}


def test_where_nothing_is_loaded_it_loads_what_earns_most() -> None:
    assert chosen(demand("layout", 5), demand("read", 50)) == {"read"}
    assert chosen(demand("layout", 50), demand("read", 1)) == {"layout"}


def test_of_two_that_are_loaded_those_that_go_on_are_enough() -> None:
    both = ["read", "layout"]
    assert chosen(demand("read", 9), loaded=both) == {"read"}
    assert chosen(demand("read", 9), demand("layout", 9), loaded=both) == {"read", "layout"}


def test_what_nobody_serves_for_long_goes_before_all() -> None:
    facts = {**FACTS, "read": KindFacts(10.0, 0.0, 5.0, 0)}
    waits = [demand("layout", 5), demand("read", 1, waited=1000.0)]
    assert preferred_kinds(RewardRate(), waits, ["layout"], facts) == {"read"}


def test_what_is_outranked_is_not_asked_about() -> None:
    low = demand("layout", 500, rank=1.0)
    high = demand("read", 1, rank=1.0 + SWITCH + 0.01)
    assert chosen(low, high, loaded=["layout"]) == {"read"}
    assert list(waiting_kinds([low, high, demand(None, 9, rank=50)])) == ["read"]


@dataclass
class Noting:
    """A policy that keeps what it is told."""

    every: float | None = None
    weighs_priority: bool = False
    told: list[tuple[list[Kind], Place]] = field(default_factory=list)

    def next_kind(self, kinds: Sequence[Kind], place: Place, now: float) -> int | None:
        self.told.append((list(kinds), place))
        return None

    def moves(self, kinds: Sequence[Kind], places: Sequence[Place], now: float) -> list[Move]:
        return []


def test_the_policy_is_told_of_all_tasks_of_a_kind_together() -> None:
    policy = Noting()
    waits = [demand("read", 2, waited=7.0), demand("read", 3), demand("new", 1)]
    assert preferred_kinds(policy, waits, ["layout"], FACTS) == frozenset()
    [(kinds, place)] = policy.told
    assert [(kind.name, kind.ready, kind.serving) for kind in kinds] == [
        ("read", 5, 1), ("new", 1, 0), ("layout", 0, 1),
    ]  # fmt: skip
    assert (kinds[0].mean, kinds[0].loading, kinds[0].since) == (10.0, 5.0, -7.0)
    assert (kinds[1].mean, kinds[1].loading) == (0.0, 1.0), "nothing is known of it"
    assert (place.loaded, list(place.suits)) == (2, [0, 1])


def test_what_is_known_of_a_kind_comes_from_all_its_steps_and_those_after() -> None:
    works = {step: WorkKind("t", step) for step in ("layout", "read", "export")}
    steps = [
        ActiveStep(works["layout"], "a", 0),
        ActiveStep(works["read"], "b", 1),
        ActiveStep(works["read"], "b with another model", 1),
        ActiveStep(works["export"], None, 2),
        ActiveStep(WorkKind("other", "export"), None, 2),
    ]
    worker = Worker("p", "h")
    times = {
        work: {worker: WorkerTimes().finished(seconds)}
        for work, seconds in zip(works.values(), (2.0, 10.0, 1.0), strict=True)
    }
    times[WorkKind("other", "export")] = {worker: WorkerTimes().finished(99.0)}
    facts = facts_of(steps, times, {"a": KindUsage(3, 4.0), "gone": KindUsage(1, 0.0)})
    assert {kind: (round(f.mean, 6), round(f.after, 6)) for kind, f in facts.items()} == {
        "a": (2.0, 11.0),
        "b": (10.0, 1.0),
        "b with another model": (10.0, 1.0),
        "gone": (0.0, 0.0),
    }
    assert (facts["a"].serving, facts["a"].loading, facts["b"].serving) == (3, 4.0, 0)
