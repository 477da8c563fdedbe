"""Placement policies of warm workers: common properties, and the decisions of each policy."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sluice.contracts.jobs.simulation import PolicyName
from wms.domain.placement.policies import create_policy
from wms.domain.placement.policy import Kind, Move, Policy, WarmSlot
from wms.domain.placement.reward_rate import RewardRate, compute_backlog, is_neglected
from wms.domain.placement.watchdog import Watchdog, priority, unlock_time

NOW = 1000.0
FREE = WarmSlot(0, range(1), None, 0, is_idle=True)


def make_kind(name: str = "k", *, ready: int = 0, assigned_slots: int = 0, mean: float = 10.0,
         downstream_seconds: float = 0.0, loading: float = 10.0, ap: float = 0.0,
         oldest_ready_at: float | None = None, loading_slots: int = 0) -> Kind:  # fmt: skip
    if oldest_ready_at is None and ready:
        oldest_ready_at = NOW
    return Kind(name, loading, ap, mean, downstream_seconds, 5, ready, assigned_slots,
                loading_slots, oldest_ready_at)  # fmt: skip


@st.composite
def draw_system(draw: st.DrawFn) -> tuple[list[Kind], list[WarmSlot]]:
    """Draw kinds and slots with consistent numbers."""
    count = draw(st.integers(1, 5))
    slots = []
    for number in range(draw(st.integers(1, 6))):
        loaded = draw(st.none() | st.integers(0, count - 1))
        is_idle = loaded is None or draw(st.booleans())
        assigned_at = draw(st.floats(0, NOW))
        slots.append(WarmSlot(number, range(count), loaded, assigned_at, is_idle))
    kinds = []
    for number in range(count):
        assigned_slots = sum(slot.assigned_kind == number for slot in slots)
        loading_slots = draw(st.integers(0, assigned_slots))
        ready = draw(st.integers(0, 50))
        times = st.floats(0, 1e4)
        kinds.append(make_kind(ready=ready, assigned_slots=assigned_slots, mean=draw(times),
                          downstream_seconds=draw(times),
                          loading=draw(times), ap=draw(st.sampled_from([-1.0, 0.0, 1.0, 50.0])),
                          oldest_ready_at=draw(st.floats(0, NOW)) if ready else None,
                          loading_slots=loading_slots))  # fmt: skip
    return kinds, slots


@pytest.mark.parametrize("policy", [create_policy(name) for name in PolicyName])
@given(system=draw_system())
def test_slot_is_only_sent_to_an_enabled_kind_with_ready_jobs(
    policy: Policy, system: tuple[list[Kind], list[WarmSlot]]
) -> None:
    kinds, slots = system
    answers = [policy.next_kind(kinds, slot, NOW) for slot in slots if slot.is_idle]
    for number in (*answers, *(move.kind for move in policy.moves(kinds, slots, NOW))):
        if number is not None:
            assert kinds[number].is_enabled
            assert kinds[number].ready


@given(system=draw_system())
@example(
    (
        [make_kind(ready=16, mean=5e-324, downstream_seconds=21.0, loading=0.0)],
        [WarmSlot(0, range(1), None, 0, True)],
    )
)
@example(
    (
        [make_kind(ready=1, mean=5e-324, assigned_slots=1, loading=0.0)],
        [WarmSlot(0, range(1), None, 0, True)],
    )
)
def test_idle_slot_takes_a_job_that_no_other_slot_comes_for(
    system: tuple[list[Kind], list[WarmSlot]],
) -> None:
    kinds, slots = system
    left = [each for each in kinds if each.is_enabled and each.ready > each.loading_slots]
    for slot in slots:
        if left:
            assert RewardRate().next_kind(kinds, slot, NOW) is not None


@given(system=draw_system())
def test_watchdog_moves_at_most_one_busy_slot_a_round(
    system: tuple[list[Kind], list[WarmSlot]],
) -> None:
    kinds, slots = system
    busy = [replace(slot, is_idle=False) for slot in slots]
    assert len(Watchdog().moves(kinds, busy, NOW)) <= 1


def test_slot_is_only_sent_to_kinds_that_are_suitable() -> None:
    kinds = [make_kind(ready=100), make_kind(ready=1)]
    for policy in (RewardRate(), Watchdog()):
        slot = WarmSlot(0, [1])
        sent = [policy.next_kind(kinds, slot, NOW), *_list_kinds(policy.moves(kinds, [slot], NOW))]
        assert set(sent) - {None} == {1}


def _list_kinds(moves: Sequence[Move]) -> list[int]:
    return [move.kind for move in moves]


@pytest.mark.parametrize(
    ("here", "height"),
    [
        (make_kind(ready=6, mean=10.0), 60 + 0),
        (make_kind(ready=6, mean=10.0, oldest_ready_at=NOW - 30), 60 + 30),
        (make_kind(ready=6, mean=10.0, assigned_slots=2, oldest_ready_at=NOW - 30), 20),
        (make_kind(ready=6, mean=10.0, assigned_slots=2, ap=2.0), 60),
        (make_kind(ready=6, mean=10.0, ap=-1.0), 0),
        (make_kind(), 0),
    ],
)
def test_priority_of_the_watchdog_follows_its_formula(here: Kind, height: float) -> None:
    assert priority(here, here.assigned_slots, NOW) == height


def test_watchdog_sends_idle_slots_one_by_one() -> None:
    """The first kind is worth 60 and then 30; the second is worth 40."""
    kinds = [make_kind(ready=6), make_kind(ready=4)]
    slots = [WarmSlot(number, [0, 1]) for number in range(3)]
    assert Watchdog().moves(kinds, slots, NOW) == [Move(0, 0), Move(1, 1), Move(2, 0)]


def test_watchdog_locks_busy_slots_for_a_while() -> None:
    kinds = [make_kind(ready=1, assigned_slots=2), make_kind(ready=50)]
    locked = WarmSlot(0, [0, 1], 0, NOW - unlock_time(kinds[0]) + 1, False)
    free = WarmSlot(1, [0, 1], 0, NOW - unlock_time(kinds[0]), False)
    assert unlock_time(kinds[0]) == 110
    assert Watchdog().moves(kinds, [locked], NOW) == []
    assert Watchdog().moves(kinds, [locked, free], NOW) == [Move(1, 1)]
    off = [make_kind(ready=1, assigned_slots=2, ap=-1), kinds[1]]
    assert Watchdog().moves(off, [locked], NOW) == [Move(0, 1)]


def test_idle_slot_moves_before_it_is_unlocked() -> None:
    kinds = [make_kind(assigned_slots=1), make_kind(ready=1)]
    assert Watchdog().moves(kinds, [WarmSlot(0, [0, 1], 0, NOW)], NOW) == [Move(0, 1)]


def test_times_are_running_averages() -> None:
    here = Kind("k", 10.0)
    for seconds in (10.0, 20.0, 30.0):
        here.learn(seconds)
    assert here.mean == pytest.approx(20.0)
    for _ in range(200):
        here.learn(100.0)
    assert here.mean == pytest.approx(100.0, rel=0.01)


def test_slot_stays_until_another_kind_is_worth_the_load() -> None:
    """The later stage is worth more, but a single item of it is no reason to load its tool."""
    early = make_kind(ready=10, assigned_slots=1, mean=20.0, downstream_seconds=20.0)
    slot = WarmSlot(0, [0, 1], 0)
    for ready, goes in ((1, 0), (4, 0), (20, 1)):
        late = make_kind(ready=ready, mean=20.0)
        assert RewardRate().next_kind([early, late], slot, NOW) == goes, ready


def test_slot_never_moves_from_a_later_stage_to_an_earlier_stage() -> None:
    early = make_kind(ready=1000, assigned_slots=1, mean=20.0, downstream_seconds=20.0)
    late = make_kind(ready=1, assigned_slots=1, mean=20.0)
    assert RewardRate().next_kind([early, late], WarmSlot(0, [0, 1], 1), NOW) == 1


def test_neglected_kind_is_served_in_the_end() -> None:
    short = make_kind(ready=5, assigned_slots=1, mean=1.0)
    long = make_kind(ready=1, mean=100.0)
    slot = WarmSlot(0, [0, 1], 0)
    assert RewardRate().next_kind([short, long], slot, NOW) == 0
    waits = 3 * (compute_backlog([short, long]) + long.loading)
    long.oldest_ready_at = NOW - waits - 1
    assert is_neglected(long, compute_backlog([short, long]), NOW)
    assert RewardRate().next_kind([short, long], slot, NOW) == 1


def test_job_that_a_slot_comes_for_attracts_no_other_slot() -> None:
    kinds = [make_kind(), make_kind(ready=1, assigned_slots=1, loading_slots=1)]
    assert RewardRate().next_kind(kinds, WarmSlot(0, [0, 1], 0), NOW) is None
    kinds[1].ready = 2
    assert RewardRate().next_kind(kinds, WarmSlot(0, [0, 1], 0), NOW) == 1


def test_priority_of_an_administrator_decides_between_equal_kinds() -> None:
    kinds = [make_kind(ready=5), make_kind(ready=5, ap=1.0)]
    assert RewardRate().next_kind(kinds, WarmSlot(0, [0, 1]), NOW) == 1
