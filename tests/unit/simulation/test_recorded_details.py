"""Steps, jobs and nodes of a scenario made from a recorded run."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from sluice.contracts.common.states import PilotState
from sluice.contracts.jobs.recorded_run import RecordedRun
from sluice.contracts.pilots.pilots import NodeResources
from tests.unit.simulation.recorded import BEGAN, FOUR_PAGES, Jobs, pilot, run
from wms.simulation.recorded import build_recorded_scenario, replay
from wms.simulation.recorded_nodes import ReplayNodes
from wms.simulation.recorded_workers import find_workers

AS_IT_WAS = ReplayNodes()


def joined(inputs: Sequence[int], join: str) -> RecordedRun:
    """Return four pages, and jobs of join with these numbers of input files."""
    jobs = {**FOUR_PAGES, "join": [("one", 30.0 + at, 7.0) for at in range(len(inputs))]}
    given = run(jobs, took=60, join=join)
    step = given.steps["join"]
    counted = [replace(job, inputs=number) for job, number in zip(step.jobs, inputs, strict=True)]
    return replace(given, steps={**given.steps, "join": replace(step, jobs=counted)})


def pipelines(recorded: RecordedRun) -> list[tuple[str, list[str]]]:
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
def test_group_belongs_to_the_last_of_its_pages(
    inputs: Sequence[int], of_join: list[float | None]
) -> None:
    given = build_recorded_scenario([joined(inputs, "sluice:merge: {files: 2}")])
    assert [pipeline.name for pipeline in given.scenario.pipelines] == ["a+b+join"]
    assert [row.times for row in given.tables["run.1.csv"]] == [(10, 5, last) for last in of_join]


def test_merge_tree_waits_for_all_pages() -> None:
    tree = joined((2, 2, 2), "sluice:merge: {files: 2, tree: true}")
    assert pipelines(tree) == [("a+b", []), ("join", ["a+b"])]


def test_step_after_a_spread_output_has_its_own_pages() -> None:
    given = run(FOUR_PAGES, took=40)
    first, *others = given.plan.steps
    [output] = first.outputs
    many = first.model_copy(update={"outputs": [output.model_copy(update={"spread": True})]})
    spread = replace(given, plan=given.plan.model_copy(update={"steps": [many, *others]}))
    assert pipelines(spread) == [("a", []), ("b", ["a"]), ("join", ["b"])]
    assert pipelines(given) == [("a+b", []), ("join", ["a+b"])]


def test_kinds_request_the_resources_of_their_steps() -> None:
    given = run(FOUR_PAGES, took=40, a="sluice:gpu: {share: 0.25},")
    kinds = {kind.name: kind for kind in build_recorded_scenario([given]).scenario.kinds}
    assert {name: kind.gpus for name, kind in kinds.items()} == {"a": 0.25, "b": 0, "join": 0}
    ram = given.plan.step("b").needs.resources.counted_ram
    assert kinds["b"].ram == ram > 0


def test_number_of_places_of_a_node_is_limited_by_memory() -> None:
    given = run({"a": [("one", 0, 10)]}, took=10)
    ram = given.plan.step("a").needs.resources.counted_ram
    node = NodeResources(cores=16, ram=3 * ram, disk=0)
    [group] = build_recorded_scenario(
        [replace(given, pilots=[pilot("one", resources=node)])]
    ).scenario.nodes
    assert group.places == 3


def test_added_nodes_are_copies_of_the_most_common_node() -> None:
    jobs: Jobs = {"a": [("big", 0, 10), ("one", 0, 10), ("two", 0, 10)]}
    big = pilot("big", resources=NodeResources(cores=4, ram=32_000, disk=0))
    given = build_recorded_scenario([run(jobs, took=10, pilots=[big, pilot("one"), pilot("two")])])
    _, other = replay(given, new_nodes=ReplayNodes(nodes=3))
    assert [(node.count, node.cores) for node in other.scenario.nodes] == [(3, 1)]


def test_node_lives_until_its_last_job_has_ended() -> None:
    """The pilot was seen for the last time before that."""
    gone = {"state": PilotState.LOST, "seen_at": BEGAN + timedelta(seconds=5)}
    given = run({"a": [("one", 0, 10), ("two", 0, 90)]}, took=90)
    given = replace(given, pilots=[pilot("one", **gone), pilot("two")])
    lives = {node.name: node.lives for node in build_recorded_scenario([given]).scenario.nodes}
    assert lives["one"] is not None
    assert lives["one"].fixed == 10


def test_job_prefers_the_place_that_ran_the_same_kind_before() -> None:
    """The first job of each kind loads its tool, the second does not."""
    given = run(
        {"a": [("one", 0, 10), ("one", 20, 10)], "b": [("one", 0, 10), ("one", 10, 10)]}, took=30
    )
    names = {("joins", step): step for step in ("a", "b")}
    [worker] = find_workers([given], names)
    found = sorted((each.kind, each.job.began, each.loads) for each in worker.jobs)
    assert [(kind, loads) for kind, _, loads in found] == [
        ("a", True), ("a", False), ("b", True), ("b", False)
    ]  # fmt: skip


def test_untimed_and_lost_jobs_of_a_run_are_reported() -> None:
    given = run(FOUR_PAGES, took=40)
    partly = {
        "a": replace(given.steps["a"], untimed=3, lost=2),
        "b": replace(given.steps["b"], untimed=1, lost=4),
    }
    told, _ = replay(
        build_recorded_scenario([replace(given, steps={**given.steps, **partly})]),
        new_nodes=AS_IT_WAS,
    )
    assert (told.untimed, told.lost) == (4, 6)


def test_replay_uses_the_requested_seed() -> None:
    given = build_recorded_scenario([run(FOUR_PAGES, took=40)])
    _, other = replay(given, new_nodes=AS_IT_WAS, seed=7)
    assert other.scenario == given.scenario.model_copy(update={"seed": 7})
