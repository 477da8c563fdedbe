"""What a scenario of a chain that ran has of its steps, its jobs and its nodes."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from sluice.contracts.pilots import NodeResources
from sluice.contracts.recorded_run import RecordedRun
from sluice.contracts.states import PilotState
from tests.unit.simulation.recorded import BEGAN, FOUR_PAGES, Jobs, pilot, run
from wms.simulation.recorded import replay, scenario_of
from wms.simulation.recorded_nodes import ReplayNodes
from wms.simulation.recorded_workers import find_workers

AS_IT_WAS = ReplayNodes()


def joined(inputs: Sequence[int], join: str) -> RecordedRun:
    """Four pages, and jobs of join with so many files each."""
    jobs = {**FOUR_PAGES, "join": [("one", 30.0 + at, 7.0) for at in range(len(inputs))]}
    given = run(jobs, took=60, join=join)
    step = given.steps["join"]
    counted = [replace(job, inputs=number) for job, number in zip(step.jobs, inputs, strict=True)]
    return replace(given, steps={**given.steps, "join": replace(step, jobs=counted)})


def pipelines(recorded: RecordedRun) -> list[tuple[str, list[str]]]:
    return [(each.name, each.after) for each in scenario_of([recorded]).scenario.pipelines]


@pytest.mark.parametrize(
    ("inputs", "of_join"),
    [
        ((2, 2), [None, 7, None, 7]),
        ((3, 1), [None, None, 7, 7]),
        ((3, 1, 1), [None, None, 7, 14]),
    ],
)
def test_a_group_goes_with_the_last_of_its_pages(
    inputs: Sequence[int], of_join: list[float | None]
) -> None:
    given = scenario_of([joined(inputs, "sluice:merge: {files: 2}")])
    assert [pipeline.name for pipeline in given.scenario.pipelines] == ["a+b+join"]
    assert [row.times for row in given.tables["run.1.csv"]] == [(10, 5, last) for last in of_join]


def test_a_tree_waits_for_all() -> None:
    tree = joined((2, 2, 2), "sluice:merge: {files: 2, tree: true}")
    assert pipelines(tree) == [("a+b", []), ("join", ["a+b"])]


def test_a_step_that_reads_what_a_job_gave_many_of_has_pages_of_its_own() -> None:
    given = run(FOUR_PAGES, took=40)
    first, *others = given.plan.steps
    [output] = first.outputs
    many = first.model_copy(update={"outputs": [output.model_copy(update={"spread": True})]})
    spread = replace(given, plan=given.plan.model_copy(update={"steps": [many, *others]}))
    assert pipelines(spread) == [("a", []), ("b", ["a"]), ("join", ["b"])]
    assert pipelines(given) == [("a+b", []), ("join", ["a+b"])]


def test_kinds_ask_for_what_their_steps_do() -> None:
    given = run(FOUR_PAGES, took=40, a="sluice:gpu: {share: 0.25},")
    kinds = {kind.name: kind for kind in scenario_of([given]).scenario.kinds}
    assert {name: kind.gpus for name, kind in kinds.items()} == {"a": 0.25, "b": 0, "join": 0}
    ram = given.plan.step("b").needs.resources.counted_ram
    assert kinds["b"].ram == ram > 0


def test_a_node_has_as_many_places_as_its_memory_has_room_for() -> None:
    given = run({"a": [("one", 0, 10)]}, took=10)
    ram = given.plan.step("a").needs.resources.counted_ram
    node = NodeResources(cores=16, ram=3 * ram, disk=0)
    [group] = scenario_of([replace(given, pilots=[pilot("one", resources=node)])]).scenario.nodes
    assert group.places == 3


def test_other_nodes_are_of_the_sort_of_which_there_were_most() -> None:
    jobs: Jobs = {"a": [("big", 0, 10), ("one", 0, 10), ("two", 0, 10)]}
    big = pilot("big", resources=NodeResources(cores=4, ram=32_000, disk=0))
    given = scenario_of([run(jobs, took=10, pilots=[big, pilot("one"), pilot("two")])])
    _, other = replay(given, wanted=ReplayNodes(nodes=3))
    assert [(node.count, node.cores) for node in other.scenario.nodes] == [(3, 1)]


def test_a_node_is_there_until_its_last_job_ended() -> None:
    """A pilot is seen for the last time before that."""
    gone = {"state": PilotState.LOST, "seen_at": BEGAN + timedelta(seconds=5)}
    given = run({"a": [("one", 0, 10), ("two", 0, 90)]}, took=90)
    given = replace(given, pilots=[pilot("one", **gone), pilot("two")])
    lives = {node.name: node.lives for node in scenario_of([given]).scenario.nodes}
    assert lives["one"] is not None
    assert lives["one"].fixed == 10


def test_places_keep_what_they_have_loaded() -> None:
    """Of two places that are free, a job has the one that did the same before."""
    given = run(
        {"a": [("one", 0, 10), ("one", 20, 10)], "b": [("one", 0, 10), ("one", 10, 10)]}, took=30
    )
    names = {("joins", step): step for step in ("a", "b")}
    [worker] = find_workers([given], names)
    found = sorted((each.kind, each.job.began, each.loads) for each in worker.jobs)
    assert [(kind, loads) for kind, _, loads in found] == [
        ("a", True), ("a", False), ("b", True), ("b", False)
    ]  # fmt: skip


def test_what_is_not_known_of_the_run_is_told_with_it() -> None:
    given = run(FOUR_PAGES, took=40)
    partly = {
        "a": replace(given.steps["a"], untimed=3, lost=2),
        "b": replace(given.steps["b"], untimed=1, lost=4),
    }
    told, _ = replay(
        scenario_of([replace(given, steps={**given.steps, **partly})]), wanted=AS_IT_WAS
    )
    assert (told.untimed, told.lost) == (4, 6)


def test_another_seed_is_that_of_what_is_asked_for() -> None:
    given = scenario_of([run(FOUR_PAGES, took=40)])
    _, other = replay(given, wanted=AS_IT_WAS, seed=7)
    assert other.scenario == given.scenario.model_copy(update={"seed": 7})
