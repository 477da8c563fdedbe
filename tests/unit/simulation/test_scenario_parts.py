"""Scenarios with tables of items, dependent pipelines, and shared nodes."""

from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice.contracts.jobs.simulation import PolicyName
from tests.unit.simulation.scenarios import find_kind, make_scenario
from wms.simulation import entry
from wms.simulation.entry import simulate
from wms.simulation.errors import InvalidScenario
from wms.simulation.timeline import TimelineRecorder
from wms.simulation.world import SimulatedSlot

TEN = {"fixed": 10}
TABLE = [{"pipeline": "p", "table": "run.csv"}]


def make_arrivals(**pages: int) -> list[dict[str, Any]]:
    """Return arrivals of this many items for each pipeline, at the start."""
    return [
        {"pipeline": name, "every": 1, "count": 1, "pages": number}
        for name, number in pages.items()
    ]


def make_pipelines(*names: str, **after: list[str]) -> list[dict[str, Any]]:
    return [{"name": name, "stages": [name], "after": after.get(name, [])} for name in names]


def test_items_of_a_table_have_their_own_times(tmp_path: Path) -> None:
    """One item lacks the second stage; loading times come from the kinds."""
    (tmp_path / "run.csv").write_text("at,a,b\n100,7,\n0,10,5\n\n")
    result = simulate(make_scenario(arrivals=TABLE), folder=tmp_path)
    assert (result.pages, find_kind(result, "a").jobs, find_kind(result, "b").jobs) == (2, 2, 1)
    assert result.end == 100 + 3 + 7


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("at,a\n0,1\n", r"run\.csv:1: expected the columns at, a, b, as the stages of the pipeline,"
                        " but found at, a$"),
        ("", r"run\.csv:1: expected the columns at, a, b, .* but found none"),
        ("at,a,b\n0,1\n", r"run\.csv:2: has 2 columns, not 3"),
        ("at,a,b\n0,1,2\n0,soon,1\n", r"run\.csv:3: 'soon' is not a number of seconds"),
        ("at,a,b\n0,-1,2\n", r"run\.csv:2: '-1' is not a number of seconds of 0 or more"),
        ("at,a,b\n,1,2\n", r"run\.csv:2: has no arrival time of the item"),
        ("at,a,b\n5,,\n", r"run\.csv:2: an item has at least one job, and this item has none"),
    ],
)  # fmt: skip
def test_wrong_table_is_reported_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "run.csv").write_text(text)
    with pytest.raises(InvalidScenario, match=message):
        simulate(make_scenario(arrivals=TABLE), folder=tmp_path)


def test_missing_table_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InvalidScenario, match=r"arrivals: .*run\.csv: cannot be read"):
        simulate(make_scenario(arrivals=TABLE), folder=tmp_path)


@pytest.mark.parametrize(("nodes", "end"), [(1, 35), (2, 25), (3, 15)])
def test_dependent_pipeline_starts_after_all_items_have_passed(nodes: int, end: float) -> None:
    kinds = [{"name": "a", "difference": TEN}, {"name": "b", "difference": {"fixed": 5}}]
    result = simulate(
        make_scenario(
            kinds=kinds,
            pipelines=make_pipelines("b", "a", b=["a"]),
            arrivals=make_arrivals(b=1, a=3),
            nodes=[{"name": "n", "count": nodes}],
        )
    )
    assert (result.end, result.finished) == (end, 4)
    assert find_kind(result, "b").waiting.most == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pipelines": make_pipelines("a", "b", a=["c"])},
         r"pipelines\.0 \(a\): after: no pipeline is called 'c' \(there are a, b\)"),
        ({"pipelines": make_pipelines("a", "b", a=["b"], b=["a"])},
         "pipelines depend on each other"),
        ({"arrivals": [{**TABLE[0], "count": 3}]},
         "a table lists all of its items: leave out count"),
        ({"nodes": [{"name": "n", "gpus": -1}]}, "gpus"),
    ],
)  # fmt: skip
def test_wrong_scenario_part_is_reported(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_scenario(
            **{"arrivals": make_arrivals(a=1), "pipelines": make_pipelines("a"), **change}
        )


@pytest.mark.parametrize(
    ("kinds", "node", "end"),
    [
        # A job with three cores and a job with one fill a node with four cores.
        ([{"name": "a", "cores": 3}, {"name": "b"}], {"cores": 4}, 20),
        ([{"name": "a", "cores": 3}, {"name": "b", "cores": 2}], {"cores": 4}, 30),
        ([{"name": "a", "ram": 3000}, {"name": "b", "ram": 1000}], {"ram": 4000}, 20),
        ([{"name": "a", "gpus": 1}, {"name": "b", "gpus": 0.5}], {"gpus": 1}, 30),
        ([{"name": "a", "gpus": 0.5}, {"name": "b", "gpus": 0.5}], {"gpus": 1}, 20),
    ],
)
@pytest.mark.parametrize("loading", [0, 2])
def test_jobs_on_a_shared_node_take_what_they_request(
    kinds: list[dict[str, Any]], node: dict[str, Any], end: float, loading: float
) -> None:
    """Two kinds have two jobs of 10 s each, on a node with four slots."""
    result = simulate(
        make_scenario(
            kinds=[{"difference": TEN, "loading": loading, **kind} for kind in kinds],
            pipelines=make_pipelines("a", "b"),
            arrivals=make_arrivals(a=2, b=2),
            nodes=[{"name": "n", "places": 4, "shared": True, **node}],
        )
    )
    assert result.finished == 4
    assert end <= result.end <= end + 4 * loading


def test_node_without_gpu_cannot_run_a_kind_that_needs_one() -> None:
    kinds = [{"name": "a", "difference": TEN, "gpus": 1}, {"name": "b", "difference": TEN}]
    with pytest.raises(InvalidScenario, match=r"kinds\.0 \(a\): no node can run it: n: .*GPU"):
        simulate(make_scenario(kinds=kinds))


class _WatchedRecorder(TimelineRecorder):
    """A record that keeps the jobs of each node in the last simulation."""

    job_times: ClassVar[list[tuple[int, int, float, float]]] = []

    def __init__(self) -> None:
        super().__init__()
        self.job_times.clear()

    def record_work(
        self, slot: SimulatedSlot, kind: int, began: float, ended: float, *, loading: bool
    ) -> None:
        super().record_work(slot, kind, began, ended, loading=loading)
        if not loading and ended > began:
            self.job_times.append((id(slot.node), kind, began, ended))


@settings(max_examples=30, deadline=None)
@given(
    policy=st.sampled_from(PolicyName),
    cores=st.lists(st.integers(1, 4), min_size=2, max_size=2),
    count=st.integers(1, 3),
    mortal=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_shared_node_never_runs_more_than_its_capacity(
    policy: PolicyName, cores: list[int], count: int, mortal: bool, seed: int
) -> None:
    # A node must live longer than any job, or an item might never finish.
    dies = {"lives": {"uniform": [60, 120]}, "away": {"fixed": 10}} if mortal else {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entry, "TimelineRecorder", _WatchedRecorder)
        result = simulate(
            make_scenario(
                seed=seed,
                policy=policy,
                kinds=[
                    {"name": name, "difference": {"uniform": [1, 40]}, "loading": 3,
                     "cores": number}
                    for name, number in zip("ab", cores, strict=True)
                ],
                arrivals=[{"pipeline": "p", "poisson": 10, "count": 20}],
                nodes=[{"name": "n", "count": count, "cores": 4, "places": 4, "shared": True,
                        **dies}],
                until=1e5,
            ),
            with_timeline=True,
        )  # fmt: skip
    assert result.finished == 20
    for node, _, at, _ in _WatchedRecorder.job_times:
        used_capacity = sum(
            cores[kind] for other, kind, began, ended in _WatchedRecorder.job_times
            if other == node and began <= at < ended
        )  # fmt: skip
        assert used_capacity <= 4
