"""The drawing of a plan."""

from sluice.contracts.ask import Ask
from sluice.contracts.needs import Needs
from sluice.contracts.plan import MergeGroups, Source, StepInput
from sluice.contracts.states import InputMode, TaskMode
from tests.unit.operator.plans import plan, step
from wfms.operator.domain.plan_drawing import GAP_X, HEIGHT, WIDTH, NodeKind, draw, groups_of


def test_a_chain_of_steps_stands_in_one_row_from_left_to_right() -> None:
    drawing = draw(plan(step("first", None), step("last", "first", mode=TaskMode.MERGE)))
    assert [node.name for node in drawing.nodes] == ["frames", "first", "last", "last_files"]
    assert len({node.y for node in drawing.nodes}) == 1
    assert [b.x - a.x for a, b in zip(drawing.nodes, drawing.nodes[1:], strict=False)] == [
        WIDTH + GAP_X
    ] * 3
    assert len(drawing.edges) == 3


def test_branches_do_not_overlap_and_outputs_share_the_last_column() -> None:
    drawing = draw(
        plan(
            step("a", None),
            step("b", "a"),
            step("c", "a"),
            step("d", "c"),
            step("e", "c"),
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


def test_where_there_is_no_data_set_it_begins_with_the_parameters() -> None:
    plain = plan(step("first", None), step("last", "first"))
    drawing = draw(plain.model_copy(update={"data_input": ""}))
    assert [(node.name, node.detail) for node in drawing.nodes[:1]] == [
        ("parameters", "no data set")
    ]
    assert [node.detail for node in draw(plain).nodes[:1]] == ["data set"]


def test_a_long_name_is_cut_in_its_box_but_kept_whole_beside() -> None:
    name = "a_step_with_a_very_long_name"
    node = next(
        node
        for node in draw(plan(step(name, None), outputs=(name,))).nodes
        if node.kind is NodeKind.STEP
    )
    assert node.name == name
    assert node.label.endswith("…")
    assert len(node.label) < len(name)


def test_groups_in_words() -> None:
    assert groups_of(MergeGroups(files=25)) == "25 files a job"
    assert groups_of(MergeGroups(bytes=2_500_000)) == "2.5 MB a job"
    assert groups_of(MergeGroups()) == "all files in one job"


def test_a_step_stands_to_the_right_of_all_that_it_reads() -> None:
    side = StepInput(port="all", source=Source(step="second", port="out"), mode=InputMode.ONE)
    last = step("last", None)
    last = last.model_copy(update={"inputs": [last.main_input, side]})
    drawing = draw(plan(last, step("second", "first"), step("first", None)))
    x = {node.name: node.x for node in drawing.nodes}
    assert x["first"] < x["second"] < x["last"] < x["last_files"]
    assert sorted(edge.port for edge in drawing.edges) == ["frames", "frames", "out", "out", "out"]


def test_a_step_on_single_values_is_one_job() -> None:
    once = step("last", "first").model_copy(update={"single": True})
    details = {node.name: node.detail for node in draw(plan(step("first", None), once)).nodes}
    assert (details["first"], details["last"]) == ("file by file", "one job")


def test_steps_over_values_and_over_each_with_each_say_so() -> None:
    values = step("values", None)
    none = values.main_input.model_copy(update={"mode": InputMode.NONE, "port": ""})
    values = values.model_copy(update={"inputs": [none]})
    crossed = step("last", "values").model_copy(update={"cross": ["a", "b"]})
    details = {node.name: node.detail for node in draw(plan(values, crossed)).nodes}
    assert (details["values"], details["last"]) == ("value by value", "each with each")


def test_of_a_step_that_people_do_it_says_so() -> None:
    check = step("check", None)
    asked = check.model_copy(update={"needs": Needs(ask=Ask(question="Is it sharp?"))})
    assert [node.detail for node in draw(plan(asked)).nodes] == [
        "data set",
        "people are asked",
    ]
