"""The lower bound of the benchmark, and its confidence intervals."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.simulate import Case, compute_lower_bound
from sluice.contracts.jobs.simulation import PolicyName
from tests.unit.simulation.scenarios import make_scenario
from wms.simulation.entry import list_item_work, simulate


@pytest.mark.parametrize(
    ("items", "pilots", "least"),
    [
        ([(0.0, 10.0)], 1, 10.0),
        ([(0.0, 10.0)], 4, 10.0),
        ([(0.0, 10.0), (0.0, 2.0)], 1, (2 + 12) / 2),
        ([(0.0, 10.0), (4.0, 2.0)], 1, (2 + 12) / 2),
        ([(0.0, 10.0), (9.0, 2.0)], 1, (10 + 3) / 2),
        ([(0.0, 10.0), (50.0, 2.0)], 1, (10 + 2) / 2),
        ([(0.0, 8.0)] * 8, 2, (4 + 8 + 12 + 16 + 20 + 24 + 28 + 32) / 8),
    ],
)
def test_lower_bound_equals_values_computed_by_hand(
    items: list[tuple[float, float]], pilots: int, least: float
) -> None:
    assert compute_lower_bound(items, pilots) == pytest.approx(least)


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 1000),
    policy=st.sampled_from(PolicyName),
    nodes=st.integers(1, 5),
    between=st.sampled_from([3, 10, 40]),
)
def test_no_policy_beats_the_lower_bound(
    seed: int, policy: PolicyName, nodes: int, between: int
) -> None:
    bench_scenario = make_scenario(
        seed=seed,
        policy=policy,
        kinds=[{"name": name, "difference": {"uniform": [1, 20]}} for name in "ab"],
        arrivals=[{"pipeline": "p", "poisson": between, "count": 30}],
        nodes=[{"name": "n", "count": nodes}],
    )
    turnaround = simulate(bench_scenario).passage
    assert turnaround is not None
    assert turnaround.mean >= compute_lower_bound(list_item_work(bench_scenario), nodes) - 1e-6


def test_change_is_computed_for_each_seed() -> None:
    case = Case("s", 2, 0.8, [100.0, 1000.0], [90.0, 900.0], [50.0, 60.0], [1.0, 1.0])
    mean, half = case.change
    assert mean == pytest.approx(-0.1)
    assert half == pytest.approx(0)
    assert case.least == pytest.approx(-0.9)
