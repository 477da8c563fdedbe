"""The formula of a task's rank."""

from hypothesis import given
from hypothesis import strategies as st

from wms.domain.scheduling.rank import RankWeights, aging, retries

WEIGHTS = RankWeights()


def test_rank_follows_its_formula() -> None:
    weights = RankWeights(alpha=2.0, beta=3.0, gamma=0.5)
    assert weights.next_rank(5.0, 1.0, aging=10.0, retries=0.5) == 1.0 + 2 * 10 + 3 * 0.5 + 0.5 * 4


def test_waiting_task_overtakes_a_fresh_task_within_half_an_hour() -> None:
    rank = 1.0
    for step in range(60):  # every 30 s
        rank = WEIGHTS.next_rank(rank, 1.0, aging=aging(30.0 * step), retries=0.0)
    assert rank > 2.0


@given(st.floats(0, 100), st.floats(0, 1e6))
def test_rank_of_a_served_task_returns_to_its_base(base: float, rank: float) -> None:
    for _ in range(400):
        rank = WEIGHTS.next_rank(rank, base, aging=0.0, retries=0.0)
    assert abs(rank - base) < 1e-6


@given(st.floats(-1e9, 1e9))
def test_aging_is_bounded(seconds: float) -> None:
    assert 0.0 <= aging(seconds) <= 1440.0


def test_retries_are_counted_per_job() -> None:
    assert (retries(5, 10), retries(0, 0)) == (0.5, 0.0)
