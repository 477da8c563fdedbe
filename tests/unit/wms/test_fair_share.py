"""Fair shares of groups, whatever each group asks for."""

import heapq
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from random import Random
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.contracts.jobs.needs import Needs
from wms.domain.scheduling.fair_share import S, compute_gains
from wms.domain.scheduling.matching import Demand, sort_demands

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
GROUPS = st.sampled_from(["a", "b", "c", "d"])


@given(
    st.dictionaries(GROUPS, st.integers(0, 10_000)),
    st.dictionaries(GROUPS, st.floats(0.001, 1000)),
    st.sets(GROUPS, min_size=1),
)
def test_gains_are_bounded_and_add_up_to_zero(
    in_flight: dict[str, int], weights: dict[str, float], wanting: set[str]
) -> None:
    gains = compute_gains(in_flight, weights, wanting)
    assert gains.keys() == wanting
    assert all(-S <= gain <= S for gain in gains.values())
    if all(group in wanting for group, jobs in in_flight.items() if jobs):
        assert sum(gains.values()) == pytest.approx(0, abs=1e-9)


def test_groups_at_their_share_gain_nothing() -> None:
    assert compute_gains({"a": 100}, {"a": 3.0}, {"a"}) == {"a": 0.0}
    assert compute_gains({}, {}, {"a", "b"}) == {"a": 0.0, "b": 0.0}
    assert compute_gains({"a": 1, "b": 3}, {"b": 3.0}, {"a", "b"}) == {"a": 0.0, "b": 0.0}


def test_group_below_its_share_goes_first() -> None:
    gains = compute_gains({"a": 10}, {}, {"a", "b"})
    assert gains == {"a": -S / 2, "b": S / 2}
    # A group with running jobs counts even if it has no ready jobs.
    assert compute_gains({"a": 10}, {}, {"b"}) == {"b": S / 2}


class _Cluster:
    """Slots and groups with endless jobs of different lengths, scheduled by the product's rules."""

    def __init__(
        self, slots: int, lengths: Mapping[str, float], weights: Mapping[str, float]
    ) -> None:
        self.slots, self.lengths, self.weights = slots, lengths, weights
        self.random = Random(7)
        self.used: Counter[str] = Counter()
        self.in_flight: Counter[str] = Counter()

    def run(self, seconds: float, *, ranks: Mapping[str, float] | None = None) -> Counter[str]:
        """Return the slot seconds of each group."""
        ends: list[tuple[float, int, str]] = []
        now, number = 0.0, 0
        while now < seconds:
            while len(ends) < self.slots:
                group = self._next(ranks or {})
                length = self.lengths[group] * self.random.uniform(0.5, 1.5)
                number += 1
                heapq.heappush(ends, (now + length, number, group))
                self.in_flight[group] += 1
                self.used[group] += length  # type: ignore[assignment] # seconds are floats
            now, _, group = heapq.heappop(ends)
            self.in_flight[group] -= 1
        return self.used

    def _next(self, ranks: Mapping[str, float]) -> str:
        gained = compute_gains(self.in_flight, self.weights, self.lengths.keys())
        demands = [
            Demand(
                uid=UUID(int=number),
                rank=ranks.get(group, 1.0) + gained[group],
                created_at=NOON + timedelta(seconds=number),
                ready=1000,
                needs=Needs(),
                group=group,
            )
            for number, group in enumerate(sorted(self.lengths))
        ]
        return sort_demands(demands)[0].group


@pytest.mark.parametrize(
    ("lengths", "weights"),
    [
        ({"a": 1.0, "b": 1.0}, {}),
        ({"a": 1.0, "b": 1.0}, {"b": 3.0}),
        ({"a": 0.1, "b": 10.0}, {"a": 2.0}),
        ({"a": 5.0, "b": 1.0, "c": 0.5}, {"a": 1.0, "b": 2.0, "c": 5.0}),
    ],
)
def test_slots_are_shared_by_weight_whatever_the_job_lengths(
    lengths: dict[str, float], weights: dict[str, float]
) -> None:
    """In a simulation, each group gets its share to within 0.05."""
    used = _Cluster(40, lengths, weights).run(2000)
    in_all, weight = sum(used.values()), sum(weights.get(group, 1.0) for group in lengths)
    for group in lengths:
        share = weights.get(group, 1.0) / weight
        assert used[group] / in_all == pytest.approx(share, abs=0.05)


def test_large_difference_in_rank_outweighs_fair_share() -> None:
    used = _Cluster(20, {"a": 1.0, "b": 1.0}, {}).run(500, ranks={"a": 10.0})
    assert used["b"] == 0
    # Fair share outweighs a smaller difference.
    used = _Cluster(20, {"a": 1.0, "b": 1.0}, {}).run(500, ranks={"a": 1.5})
    assert used["b"] / sum(used.values()) > 0.3
