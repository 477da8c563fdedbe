"""Replay of a recorded run, on its nodes or on other nodes."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from sluice.contracts.common.states import PilotState
from sluice.contracts.jobs.recorded_run import RecordedRun
from sluice.contracts.jobs.simulation import PolicyName
from sluice.contracts.jobs.warm_workers import WarmWorkerState
from sluice.contracts.pilots.nodes import NodeResources
from tests.unit.simulation.recorded import (
    FOUR_PAGES,
    START_TIME,
    Jobs,
    make_pilot,
    make_recorded_run,
)
from wms.simulation.entry import read_scenario, simulate
from wms.simulation.errors import InvalidScenario
from wms.simulation.recorded import build_recorded_scenario, replay
from wms.simulation.recorded_nodes import ReplayNodes
from wms.simulation.scenario import NodeGroup

RECORDED_NODES = ReplayNodes()


def get_node_groups(recorded: RecordedRun) -> dict[str, NodeGroup]:
    return {group.name: group for group in build_recorded_scenario([recorded]).scenario.nodes}


def test_replay_on_the_same_nodes_takes_as_long() -> None:
    """Two pilots work on two items each, and the joining step starts after the last item."""
    report, _ = replay(
        build_recorded_scenario([make_recorded_run(FOUR_PAGES, took=40)]), new_nodes=RECORDED_NODES
    )
    assert (report.same.end, report.measured, report.ratio) == (37, 40, 37 / 40)
    assert report.asked is None
    assert {kind.kind: kind.jobs for kind in report.same.kinds} == {"a": 4, "b": 4, "join": 1}


@pytest.mark.parametrize(
    ("new_nodes", "end"),
    [
        (ReplayNodes(nodes=4), 15 + 7),
        (ReplayNodes(nodes=1), 60 + 7),
        (ReplayNodes(nodes=1, speed=2), (60 + 7) / 2),
        (ReplayNodes(speed=0.5), 2 * 37),
    ],
)
def test_replay_on_other_nodes_scales_with_their_number_and_speed(
    new_nodes: ReplayNodes, end: float
) -> None:
    report, _ = replay(
        build_recorded_scenario([make_recorded_run(FOUR_PAGES, took=40)]), new_nodes=new_nodes
    )
    assert report.asked is not None
    assert report.same.end == 37
    assert report.asked.end == pytest.approx(end)


def test_replay_uses_another_policy() -> None:
    """The slots of the watchdog start and change only with its rounds."""
    recorded = build_recorded_scenario([make_recorded_run(FOUR_PAGES, took=40)])
    report, _ = replay(
        recorded, new_nodes=RECORDED_NODES, policy=PolicyName.WATCHDOG, with_timeline=True
    )
    assert report.asked is not None
    assert report.asked.policy is PolicyName.WATCHDOG
    assert report.asked.finished == 5
    assert report.asked.timeline is not None
    assert report.same.timeline is None


def test_written_scenario_gives_the_same_result(tmp_path: Path) -> None:
    file = tmp_path / "four.yaml"
    report, other = replay(
        build_recorded_scenario([make_recorded_run(FOUR_PAGES, took=40)], stem=file.stem),
        new_nodes=ReplayNodes(nodes=3),
    )
    other.write(file)
    assert "chain 00000000-0000-0000-0000-000000000001 (pages)" in file.read_text()
    assert (tmp_path / "four.1.csv").read_text().splitlines()[:2] == ["at,a,b", "0,10,5"]
    assert simulate(read_scenario(file), folder=tmp_path) == report.asked


def test_loading_time_is_separated_from_working_time() -> None:
    """A job takes 13 s with loading and 3 s after that, so that loading takes 10 s."""
    jobs: Jobs = {"a": [("one", at, took) for at, took in ((0, 13), (13, 3), (16, 3), (19, 3))]}
    warm = make_recorded_run(jobs, took=22, a="sluice:warm: {key: []},")
    recorded = build_recorded_scenario([warm])
    assert recorded.scenario.kinds[0].loading == 10
    assert [row.times for row in recorded.tables["run.1.csv"]] == [(3,)] * 4
    report, _ = replay(recorded, new_nodes=RECORDED_NODES)
    assert (report.same.end, report.same.kinds[0].loads) == (22, 1)
    has_warm_worker = WarmWorkerState(kind="k", step="a", since=START_TIME, loading=8)
    run_with_warm_worker = replace(warm, pilots=[make_pilot("one", loaded=[has_warm_worker])])
    assert build_recorded_scenario([run_with_warm_worker]).scenario.kinds[0].loading == 8
    assert (
        build_recorded_scenario([make_recorded_run(jobs, took=22)]).scenario.kinds[0].loading == 0
    )


def test_pilot_with_longer_jobs_is_a_slower_node() -> None:
    """Half the speed is found after forty jobs; a few jobs say nothing."""
    slow_and_fast: Jobs = {
        "a": [("slow", 20 * n, 20) for n in range(40)] + [("fast", 10 * n, 10) for n in range(40)]
    }
    nodes = get_node_groups(make_recorded_run(slow_and_fast, took=800))
    assert {name: node.speed for name, node in nodes.items()} == {"fast": 1.5, "slow": 0.75}
    rows = build_recorded_scenario([make_recorded_run(slow_and_fast, took=800)]).tables["run.1.csv"]
    assert {row.times for row in rows} == {(15.0,)}
    few = make_recorded_run({"a": [("slow", 0, 20), ("fast", 0, 10)]}, took=20)
    assert [(node.count, node.speed) for node in get_node_groups(few).values()] == [(2, 1.0)]


def test_nodes_join_and_leave_as_recorded() -> None:
    """Two pilots of the same name get the jobs of their own times."""
    late = make_pilot("late", registered_at=START_TIME + timedelta(seconds=200))
    gone_fields = {"state": PilotState.GONE, "seen_at": START_TIME + timedelta(seconds=30)}
    pilots = [
        late,
        make_pilot("one", **gone_fields),
        make_pilot("one", registered_at=START_TIME + timedelta(seconds=190)),
    ]
    jobs: Jobs = {"a": [("one", 0, 10), ("one", 195, 10), ("late", 200, 10)]}
    nodes = get_node_groups(make_recorded_run(jobs, took=210, pilots=pilots))
    lives = {name: node.lives and node.lives.fixed for name, node in nodes.items()}
    assert {name: node.joins for name, node in nodes.items()} == {
        "one": 0, "one+2": 190, "late": 200
    }  # fmt: skip
    assert lives == {"one": 30, "one+2": None, "late": None}
    report, _ = replay(
        build_recorded_scenario([make_recorded_run(jobs, took=210, pilots=pilots)]),
        new_nodes=ReplayNodes(nodes=1),
    )
    assert report.same.finished == 3
    assert report.asked is not None
    assert report.asked.end == 30


def test_concurrent_jobs_of_a_node_are_limited_by_its_capacity() -> None:
    """The cores limit 16 slots; an unknown node gets as many as it used."""
    large_pilot = make_pilot("one", resources=NodeResources(cores=4, ram=8000, disk=0))
    four = make_recorded_run({"a": [("one", 0, 10)] * 8}, took=20, pilots=[large_pilot])
    assert (get_node_groups(four)["one"].places, get_node_groups(four)["one"].shared) == (4, True)
    assert replay(build_recorded_scenario([four]), new_nodes=RECORDED_NODES)[0].same.end == 20
    unknown = get_node_groups(replace(four, pilots=[]))["one"]
    assert (unknown.places, unknown.shared, unknown.cores) == (8, False, 0)


def test_node_that_cannot_run_a_step_is_reported() -> None:
    small = make_pilot("one", resources=NodeResources(cores=1, ram=100, disk=0))
    with pytest.raises(InvalidScenario, match=r"kinds\.0 \(a\): no node can run it: one: needs"):
        replay(
            build_recorded_scenario([make_recorded_run(FOUR_PAGES, took=40, pilots=[small])]),
            new_nodes=ReplayNodes(nodes=1),
        )


def test_batch_belongs_to_the_last_of_its_items() -> None:
    """b takes two items in one job, which starts when both items exist."""
    jobs: Jobs = {"a": [("one", at, 10) for at in (0, 10, 20)], "b": [("one", 30, 5)] * 2}
    batched = make_recorded_run(jobs, took=40, b="sluice:batch: {files: 2},")
    first, second = batched.steps["b"].jobs
    moved = {"b": replace(batched.steps["b"], jobs=[first, replace(second, number=2)])}
    recorded = build_recorded_scenario([replace(batched, steps={**batched.steps, **moved})])
    assert [row.times for row in recorded.tables["run.1.csv"]] == [(10, None), (10, 5), (10, 5)]


def test_step_without_streaming_waits_for_all_items() -> None:
    recorded_scenario = build_recorded_scenario(
        [make_recorded_run(FOUR_PAGES, took=40, b="sluice:flow: dataset,")]
    ).scenario
    assert [(each.name, each.after) for each in recorded_scenario.pipelines] == [
        ("a", []), ("b", ["a"]), ("join", ["b"])
    ]  # fmt: skip


def test_steps_that_did_not_run_are_left_out() -> None:
    """b was taken over from another chain, so that join waits for a."""
    jobs = {step: of_step for step, of_step in FOUR_PAGES.items() if step != "b"}
    recorded_scenario = build_recorded_scenario([make_recorded_run(jobs, took=40)]).scenario
    assert [(each.name, each.after) for each in recorded_scenario.pipelines] == [
        ("a", []),
        ("join", ["a"]),
    ]


def test_several_chains_arrive_at_their_recorded_times() -> None:
    first = make_recorded_run(FOUR_PAGES, took=40)
    later = replace(
        first, began=START_TIME + timedelta(seconds=100), ended=START_TIME + timedelta(seconds=140)
    )
    recorded = build_recorded_scenario([first, later])
    assert recorded.tables["run.3.csv"][0].at == 100
    report, _ = replay(recorded, new_nodes=RECORDED_NODES)
    assert (report.same.end, report.measured) == (137, 140)
    other = build_recorded_scenario([first, replace(later, template="others")])
    assert {kind.name for kind in other.scenario.kinds} >= {"joins.a", "others.a"}
