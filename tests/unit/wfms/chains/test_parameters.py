"""Parameters of chains: checks, defaults, and arguments of steps."""

from typing import Any
from uuid import UUID

import pytest

from sluice.contracts.jobs.needs import Needs
from sluice.contracts.templates.parameters import describe, find_problems, fits
from sluice.contracts.templates.plan import Constant, Parameter, ParameterRef, Plan
from tests.unit.wfms.chains.plans import make_plan, make_step
from wfms.chains.domain.parameters import arguments, complete, given_files

RECORD = {"type": "record", "fields": {"a": "int", "b": "string?"}}
RECORD_AS_LIST = {
    "type": "record",
    "fields": [{"name": "file:///wf.cwl#r/a", "type": "int"}, {"name": "b", "type": "string?"}],
}
ENUM = {"type": "enum", "symbols": ["file:///wf.cwl#mode/fast", "slow"]}


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("int", [0, -(2**31)], [2**31, 1.0, True, "1"]),
        ("long", [2**62], [2**63, False]),
        ("float", [1, 1.5], ["1", True]),
        ("double", [1e300], [None]),
        ("string", ["", "x"], [1, None]),
        ("boolean", [True], [1, "true"]),
        ("null", [None], [0]),
        ("File", [{"class": "File", "location": "file:///a"}], ["a", {"class": "Directory"}]),
        ("Directory", [{"class": "Directory"}], [{"class": "File"}]),
        ("Any", [1, "x", {}], []),
        ("int?", [None, 1], ["x"]),
        ("string[]", [[], ["a"]], ["a", [1]]),
        (["null", "int"], [None, 3], ["x"]),
        ({"type": "array", "items": "int"}, [[1, 2]], [[1, "2"], 1]),
        (ENUM, ["fast", "slow"], ["medium", 1]),
        ({"type": "record", "fields": []}, [{}], [[]]),
        (RECORD, [{"a": 1}, {"a": 1, "b": "x"}], [{"a": "x"}, {"b": "x"}, {"a": 1, "b": 2}]),
        (RECORD_AS_LIST, [{"a": 1, "b": None}], [{"a": None}, {}]),
        ({"type": "int"}, [1], ["1"]),
        ("file:///types.yml#point", [{"x": 1}, 7], []),
    ],
)
def test_value_fits_a_cwl_type(kind: Any, good: list[Any], bad: list[Any]) -> None:
    assert [value for value in good if not fits(value, kind)] == []
    assert [value for value in bad if fits(value, kind)] == []


@pytest.mark.parametrize(
    ("kind", "value", "place", "problem"),
    [
        (RECORD, {"a": "x"}, "a", "must be int, not 'x'"),
        (["null", RECORD_AS_LIST], {"a": 1, "b": 2}, "b", "must be string?, not 2"),
        (RECORD, {"b": "x"}, "a", "(int) is required and has no value"),
        ({"type": "array", "items": RECORD}, [{"a": 1}, {"a": 2.5}],
         "[1].a", "must be int, not 2.5"),
        ({"type": "record", "fields": {"in": RECORD}}, {"in": {"a": "x"}},
         "in.a", "must be int, not 'x'"),
        (RECORD, 3, "", "must be a record of a (int), b (string?), not 3"),
    ],
)  # fmt: skip
def test_field_that_does_not_fit_is_named(kind: Any, value: Any, place: str, problem: str) -> None:
    only = make_plan(
        make_step("only"), outputs=[("only", "out")], parameters={"r": Parameter(type=kind)}
    )
    [finding] = find_problems(only, {"r": value})
    assert (finding.parameter, finding.place, finding.problem) == ("r", place, problem)
    field = f": field '{place}'" if place else ""
    assert finding.message == f"parameter 'r'{field} {problem}"


def test_types_are_described_in_words() -> None:
    assert (
        describe(["null", {"type": "array", "items": ENUM}])
        == "null or a list of one of fast, slow"
    )
    assert describe(RECORD_AS_LIST) == "a record of a (int), b (string?)"


WORKFLOW = make_plan(
    make_step(
        "only",
        arguments={
            "cut": ParameterRef(name="cut"),
            "scale": ParameterRef(name="scale"),
            "maybe": ParameterRef(name="maybe"),
            "fixed": Constant(value=[1]),
        },
    ),
    outputs=[("only", "out")],
    parameters={
        "cut": Parameter(type="int", required=True),
        "scale": Parameter(type="float", default=1.5),
        "maybe": Parameter(type="string?"),
    },
)


def test_findings_list_all_wrong_parameters() -> None:
    parameters = "cut (int, has to be given), maybe (string?, optional), scale (float)"
    messages = [
        finding.message
        for finding in find_problems(WORKFLOW, {"scale": "big", "speed": 1, "maybee": 2})
    ]
    assert messages == [
        f"parameter 'speed' is unknown; the workflow has {parameters}",
        f"parameter 'maybee' is unknown (did you mean 'maybe'?); the workflow has {parameters}",
        "parameter 'cut' (int) is required and has no value",
        "parameter 'scale' must be float, not 'big'",
    ]
    assert find_problems(WORKFLOW, {"cut": 1, "maybe": None}) == []
    (texts,) = find_problems(WORKFLOW, {"cut": [True, None, "ü"]})
    assert texts.message == "parameter 'cut' must be int, not [true, null, \"ü\"]"


def test_parameters_defaults_and_constants_become_arguments() -> None:
    params = complete(WORKFLOW, {"cut": 2})
    assert params == {"cut": 2, "scale": 1.5, "maybe": None}
    assert arguments(WORKFLOW, WORKFLOW.steps[0], params) == {
        "cut": 2,
        "scale": 1.5,
        "maybe": None,
        "fixed": [1],
    }
    assert arguments(WORKFLOW, WORKFLOW.steps[0], {})["scale"] == 1.5


def test_given_values_override_defaults_and_missing_values_stay_absent() -> None:
    assert complete(WORKFLOW, {"scale": 3.0}) == {"scale": 3.0, "maybe": None}


def test_null_parameter_gets_its_default() -> None:
    params = complete(WORKFLOW, {"cut": 2, "scale": None})
    assert params == {"cut": 2, "scale": 1.5, "maybe": None}
    step_arguments = arguments(
        WORKFLOW, WORKFLOW.steps[0], {"cut": 2, "scale": None, "maybe": None}
    )
    assert step_arguments == {"cut": 2, "scale": 1.5, "maybe": None, "fixed": [1]}


def test_null_file_parameters_are_not_given_files() -> None:
    files = {name: Parameter(type="File") for name in ("mask", "none")}
    wf = make_plan(
        make_step("only"),
        outputs=[("only", "out")],
        parameters={**files, "cut": Parameter(type="int")},
    )
    files_by_name = given_files(
        wf, {"mask": {"class": "File", "dataset": str(UUID(int=1))}, "none": None, "cut": 1}
    )
    assert {name: file.dataset for name, file in files_by_name.items()} == {"mask": UUID(int=1)}


def make_scatter_plan(**more: Any) -> Plan:
    sweep = make_step(
        "sweep",
        arguments={
            "cut": ParameterRef(name="cuts"),
            "word": ParameterRef(name="words"),
            "fixed": Constant(value=[1, 2]),
        },
        needs=Needs(items=["cut", "word", "fixed"]),
        **more,
    )
    parameters = {
        "cuts": Parameter(type="int[]", required=True),
        "words": Parameter(type="string[]", default=["a", "b"]),
    }
    return make_plan(sweep, outputs=[("sweep", "out")], parameters=parameters)


def test_lists_that_a_step_pairs_must_have_equal_lengths() -> None:
    """In a cross product, they may have any length."""
    assert find_problems(make_scatter_plan(), {"cuts": [3, 4]}) == []
    [problem] = find_problems(make_scatter_plan(), {"cuts": [3, 4, 5]})
    assert problem.message == (
        "step 'sweep' pairs its inputs by number, but there are 3 values"
        " at 'cut' and 2 values at 'word' and 2 values at 'fixed': give as many of each, or write"
        " 'scatterMethod: flat_crossproduct', which takes each with each"
    )
    assert find_problems(make_scatter_plan(cross=["cut", "word", "fixed"]), {"cuts": []}) == []


def test_list_that_a_step_scatters_over_must_be_given() -> None:
    assert find_problems(make_scatter_plan(), {"cuts": [3, 4], "words": None}) == [], (
        "null selects the default"
    )
    optional = make_scatter_plan()
    optional.parameters["words"] = Parameter(type="string[]?")
    [problem] = find_problems(optional, {"cuts": [3, 4]})
    assert problem.message == "step 'sweep' scatters over 'word', whose value is not a list"
    [problem] = find_problems(make_scatter_plan(), {})
    assert "'cuts' (int[]) is required" in problem.message
