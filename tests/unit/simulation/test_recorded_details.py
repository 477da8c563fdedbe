"""Steps, jobs and nodes of a scenario made from a recorded run."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from sluice.contracts.common.states import PilotState
from sluice.contracts.jobs.recorded_run import RecordedRun
from sluice.contracts.pilots.nodes import NodeResources
from tests.unit.simulation.recorded import (
    FOUR_PAGES,
    START_TIME,
    Jobs,
    make_pilot,
    make_recorded_run,
)
from wms.simulation.recorded import build_recorded_scenario, replay
from wms.simulation.recorded_nodes import ReplayNodes
from wms.simulation.recorded_pilots import find_recorded_pilots

RECORDED_NODES = ReplayNodes()


def record_joined_items(inputs: Sequence[int], join: str) -> RecordedRun:
    """Return four items, and jobs of join with these numbers of input files."""
    jobs = {**FOUR_PAGES, "join": [("one", 30.0 + at, 7.0) for at in range(len(inputs))]}
    recorded_run = make_recorded_run(jobs, took=60, join=join)
    step = recorded_run.steps["join"]
    counted = [replace(job, inputs=number) for job, number in zip(step.jobs, inputs, strict=True)]
    return replace(recorded_run, steps={**recorded_run.steps, "join": replace(step, jobs=counted)})


def list_item_groups(recorded: RecordedRun) -> list[tuple[str, list[str]]]:
    return [
        (each.name, each.after) for each in build_recorded_scenario([recorded]).scenario.pipelines
    ]


@pytest.mark.parametrize(
    ("inputs", "of_join"),
    [
        ((2, 2), [None, 7, None, 7]),
        ((3, 1), [None, None, 7, 7]),
        ((3, 1, 1), [None, None, 7, 14]),
    ],
)
def test_group_belongs_to_the_last_of_its_items(
    inputs: Sequence[int], of_join: list[float | None]
) -> None:
    recorded = build_recorded_scenario([record_joined_items(inputs, "sluice:merge: {files: 2}")])
    assert [pipeline.name for pipeline in recorded.scenario.pipelines] == ["a+b+join"]
    assert [row.times for row in recorded.tables["run.1.csv"]] == [
        (10, 5, last) for last in of_join
    ]


def test_merge_tree_waits_for_all_items() -> None:
    tree = record_joined_items((2, 2, 2), "sluice:merge: {files: 2, tree: true}")
    assert list_item_groups(tree) == [("a+b", []), ("join", ["a+b"])]


def test_step_after_a_spread_output_has_its_own_items() -> None:
    recorded_run = make_recorded_run(FOUR_PAGES, took=40)
    first, *others = recorded_run.plan.steps
    [output] = first.outputs
    many = first.model_copy(update={"outputs": [output.model_copy(update={"spread": True})]})
    spread = replace(
        recorded_run, plan=recorded_run.plan.model_copy(update={"steps": [many, *others]})
    )
    assert list_item_groups(spread) == [("a", []), ("b", ["a"]), ("join", ["b"])]
    assert list_item_groups(recorded_run) == [("a+b", []), ("join", ["a+b"])]


def test_kinds_request_the_resources_of_their_steps() -> None:
    recorded_run = make_recorded_run(FOUR_PAGES, took=40, a="sluice:gpu: {share: 0.25},")
    kinds = {kind.name: kind for kind in build_recorded_scenario([recorded_run]).scenario.kinds}
    assert {name: kind.gpus for name, kind in kinds.items()} == {"a": 0.25, "b": 0, "join": 0}
    ram = recorded_run.plan.step("b").needs.resources.counted_ram
    assert kinds["b"].ram == ram > 0


def test_number_of_places_of_a_node_is_limited_by_memory() -> None:
    recorded_run = make_recorded_run({"a": [("one", 0, 10)]}, took=10)
    ram = recorded_run.plan.step("a").needs.resources.counted_ram
    node = NodeResources(cores=16, ram=3 * ram, disk=0)
    [group] = build_recorded_scenario(
        [replace(recorded_run, pilots=[make_pilot("one", resources=node)])]
    ).scenario.nodes
    assert group.places == 3


def test_added_nodes_are_copies_of_the_most_common_node() -> None:
    jobs: Jobs = {"a": [("big", 0, 10), ("one", 0, 10), ("two", 0, 10)]}
    large_pilot = make_pilot("big", resources=NodeResources(cores=4, ram=32_000, disk=0))
    recorded = build_recorded_scenario(
        [
            make_recorded_run(
                jobs, took=10, pilots=[large_pilot, make_pilot("one"), make_pilot("two")]
            )
        ]
    )
    _, other = replay(recorded, new_nodes=ReplayNodes(nodes=3))
    assert [(node.count, node.cores) for node in other.scenario.nodes] == [(3, 1)]


def test_node_lives_until_its_last_job_has_ended() -> None:
    """The pilot was seen for the last time before that."""
    gone_fields = {"state": PilotState.LOST, "seen_at": START_TIME + timedelta(seconds=5)}
    recorded_run = make_recorded_run({"a": [("one", 0, 10), ("two", 0, 90)]}, took=90)
    recorded_run = replace(
        recorded_run, pilots=[make_pilot("one", **gone_fields), make_pilot("two")]
    )
    lives = {
        node.name: node.lives for node in build_recorded_scenario([recorded_run]).scenario.nodes
    }
    assert lives["one"] is not None
    assert lives["one"].fixed == 10


def test_job_prefers_the_place_that_ran_the_same_kind_before() -> None:
    """The first job of each kind loads its tool, the second does not."""
    recorded_run = make_recorded_run(
        {"a": [("one", 0, 10), ("one", 20, 10)], "b": [("one", 0, 10), ("one", 10, 10)]}, took=30
    )
    names = {("joins", step): step for step in ("a", "b")}
    [pilot] = find_recorded_pilots([recorded_run], names)
    job_loads = sorted((each.kind, each.job.began, each.loads) for each in pilot.jobs)
    assert [(kind, loads) for kind, _, loads in job_loads] == [
        ("a", True), ("a", False), ("b", True), ("b", False)
    ]  # fmt: skip


def test_untimed_and_lost_jobs_of_a_run_are_reported() -> None:
    recorded_run = make_recorded_run(FOUR_PAGES, took=40)
    run_with_untimed_jobs = {
        "a": replace(recorded_run.steps["a"], untimed=3, lost=2),
        "b": replace(recorded_run.steps["b"], untimed=1, lost=4),
    }
    report, _ = replay(
        build_recorded_scenario(
            [replace(recorded_run, steps={**recorded_run.steps, **run_with_untimed_jobs})]
        ),
        new_nodes=RECORDED_NODES,
    )
    assert (report.untimed, report.lost) == (4, 6)


def test_replay_uses_the_requested_seed() -> None:
    recorded = build_recorded_scenario([make_recorded_run(FOUR_PAGES, took=40)])
    _, other = replay(recorded, new_nodes=RECORDED_NODES, seed=7)
    assert other.scenario == recorded.scenario.model_copy(update={"seed": 7})
