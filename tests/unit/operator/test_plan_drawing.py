"""Drawings of plans."""

from sluice.contracts.common.states import InputMode, TaskMode
from sluice.contracts.human_tasks.ask import Ask
from sluice.contracts.jobs.needs import Needs
from sluice.contracts.templates.plan import MergeGroups, Source, StepInput
from tests.unit.operator.plans import make_plan, make_step
from wfms.operator.web.domain.plan_drawing import (
    GAP_X,
    HEIGHT,
    WIDTH,
    NodeKind,
    describe_groups,
    draw,
)


def test_linear_plan_is_drawn_in_one_row_from_left_to_right() -> None:
    drawing = draw(
        make_plan(make_step("first", None), make_step("last", "first", mode=TaskMode.MERGE))
    )
    assert [node.name for node in drawing.nodes] == ["frames", "first", "last", "last_files"]
    assert len({node.y for node in drawing.nodes}) == 1
    assert [b.x - a.x for a, b in zip(drawing.nodes, drawing.nodes[1:], strict=False)] == [
        WIDTH + GAP_X
    ] * 3
    assert len(drawing.edges) == 3


def test_branches_do_not_overlap_and_outputs_share_the_last_column() -> None:
    drawing = draw(
        make_plan(
            make_step("a", None),
            make_step("b", "a"),
            make_step("c", "a"),
            make_step("d", "c"),
            make_step("e", "c"),
            outputs=("b", "d", "e"),
        )
    )
    boxes = [(node.x, node.y) for node in drawing.nodes]
    for number, (x, y) in enumerate(boxes):
        assert not any(
            abs(x - other_x) < WIDTH and abs(y - other_y) < HEIGHT
            for other_x, other_y in boxes[:number]
        )
        assert x + WIDTH <= drawing.width
        assert y + HEIGHT <= drawing.height
    assert len({node.x for node in drawing.nodes if node.kind is NodeKind.OUTPUT}) == 1


def test_drawing_without_data_set_begins_with_the_parameters() -> None:
    plain = make_plan(make_step("first", None), make_step("last", "first"))
    drawing = draw(plain.model_copy(update={"data_input": ""}))
    assert [(node.name, node.detail) for node in drawing.nodes[:1]] == [
        ("parameters", "no data set")
    ]
    assert [node.detail for node in draw(plain).nodes[:1]] == ["data set"]


def test_long_name_is_shortened_in_its_box() -> None:
    name = "a_step_with_a_very_long_name"
    node = next(
        node
        for node in draw(make_plan(make_step(name, None), outputs=(name,))).nodes
        if node.kind is NodeKind.STEP
    )
    assert node.name == name
    assert node.label.endswith("…")
    assert len(node.label) < len(name)


def test_groups_are_described_in_words() -> None:
    assert describe_groups(MergeGroups(files=25)) == "25 files a job"
    assert describe_groups(MergeGroups(bytes=2_500_000)) == "2.5 MB a job"
    assert describe_groups(MergeGroups()) == "all files in one job"


def test_step_is_drawn_to_the_right_of_its_sources() -> None:
    side = StepInput(port="all", source=Source(step="second", port="out"), mode=InputMode.ONE)
    last = make_step("last", None)
    last = last.model_copy(update={"inputs": [last.main_input, side]})
    drawing = draw(make_plan(last, make_step("second", "first"), make_step("first", None)))
    x = {node.name: node.x for node in drawing.nodes}
    assert x["first"] < x["second"] < x["last"] < x["last_files"]
    assert sorted(edge.port for edge in drawing.edges) == ["frames", "frames", "out", "out", "out"]


def test_step_on_single_values_is_shown_as_one_job() -> None:
    once = make_step("last", "first").model_copy(update={"single": True})
    details = {
        node.name: node.detail for node in draw(make_plan(make_step("first", None), once)).nodes
    }
    assert (details["first"], details["last"]) == ("file by file", "one job")


def test_steps_over_values_and_cross_products_are_labelled() -> None:
    values = make_step("values", None)
    none = values.main_input.model_copy(update={"mode": InputMode.NONE, "port": ""})
    values = values.model_copy(update={"inputs": [none]})
    crossed = make_step("last", "values").model_copy(update={"cross": ["a", "b"]})
    details = {node.name: node.detail for node in draw(make_plan(values, crossed)).nodes}
    assert (details["values"], details["last"]) == ("value by value", "each with each")


def test_human_task_is_labelled() -> None:
    check = make_step("check", None)
    human_step = check.model_copy(update={"needs": Needs(ask=Ask(question="Is it sharp?"))})
    assert [node.detail for node in draw(make_plan(human_step)).nodes] == [
        "data set",
        "people are asked",
    ]
