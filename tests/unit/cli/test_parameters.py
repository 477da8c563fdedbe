"""Parameters on the command line, checked before any file is copied."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import typer

from sluice.cli.job_orders.parameters import ParameterInput, key_values, read_parameters
from sluice.contracts.common.problems import Unprocessable
from sluice.contracts.templates.chain_requirements import NO_DATASET, DatasetFacts
from sluice.contracts.templates.plan import DataEntries, Parameter
from tests.unit.wfms.chains.plans import make_plan, make_step

WORKFLOW = make_plan(
    make_step("only"),
    outputs=[("only", "out")],
    bind={"run": "number"},
    parameters={
        "run": Parameter(type="int", required=True),
        "label": Parameter(type=["null", "string"]),
        "gain": Parameter(type="float", default=1.5),
        "ref": Parameter(type="File", required=True),
    },
)
FILES = {"ref": [Path("ref.txt")]}


def fit_values(*texts: str, facts: dict[str, Any] | None = None) -> dict[str, Any]:
    return read_parameters(texts).fit_to_plan(
        WORKFLOW, DatasetFacts(facts or {"number": 7}, files=1, bytes=1), files=FILES
    )


def test_typed_values_are_read_by_the_types_of_the_workflow() -> None:
    assert fit_values("gain=2", "ref=ref.txt") == {"gain": 2, "ref": "ref.txt"}
    assert fit_values("label=2024") == {"label": "2024"}, "a text must not be read as a number"
    assert fit_values("label=null") == {"label": None}


def test_null_is_never_text() -> None:
    """Null selects the default, or is refused if there is none, as CWL says."""
    named = make_plan(
        make_step("only"),
        outputs=[("only", "out")],
        parameters={
            "name": Parameter(type="string", default="nobody"),
            "title": Parameter(type="string", required=True),
        },
    )
    fit = partial(ParameterInput.fit_to_plan, plan=named, subject=NO_DATASET, files=())
    assert fit(read_parameters(["name=null", "title=x"])) == {"name": None, "title": "x"}
    assert fit(read_parameters(['title="null"'])) == {"title": "null"}
    with pytest.raises(Unprocessable) as refusal:
        fit(read_parameters(["title=null"]))
    assert "'title' (string) is required and has no value" in refusal.value.findings[0].message


@pytest.mark.parametrize("name", ["id", "cwlVersion", "cwl:tool", "$schemas"])
def test_input_named_like_a_key_of_runners_is_kept(name: str, tmp_path: Path) -> None:
    order = tmp_path / "order.json"
    order.write_text(json.dumps({name: "sample-7", "x": 2}))
    parameters = {"x": Parameter(type="double", default=1.5)}
    without = make_plan(make_step("only"), outputs=[("only", "out")], parameters=parameters)
    parameters[name] = Parameter(type="string", default="nobody")
    with_it = make_plan(make_step("only"), outputs=[("only", "out")], parameters=parameters)
    order_parameters = read_parameters([], job=order)
    assert order_parameters.fit_to_plan(with_it, NO_DATASET, files=()) == {name: "sample-7", "x": 2}
    assert order_parameters.fit_to_plan(without, NO_DATASET, files=()) == {"x": 2}
    with pytest.raises(Unprocessable):  # a typed name is an input
        read_parameters([f"{name}=a"]).fit_to_plan(without, NO_DATASET, files=())


def test_requirements_in_a_job_order_are_refused_for_a_template(tmp_path: Path) -> None:
    order = tmp_path / "order.yml"
    order.write_text("cwl:requirements: [{class: EnvVarRequirement, envDef: {A: b}}]\n")
    parameters = read_parameters([], job=order)
    with pytest.raises(Unprocessable, match="cannot be applied to a published template"):
        parameters.fit_to_plan(WORKFLOW, NO_DATASET, files=())
    assert parameters.requirements == [{"class": "EnvVarRequirement", "envDef": {"A": "b"}}]
    assert parameters.without_requirements().values == {}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "gian=2",
            "parameter 'gian' is unknown (did you mean 'gain'?); the workflow has gain (float),"
            " label (null or string, optional), ref (File, has to be given), run (int, has to be"
            " given)",
        ),
        ("gain=big", "parameter 'gain' must be float, not 'big'"),
        ("run=null", "parameter 'run' (int) is required and has no value"),
    ],
)
def test_parameter_that_does_not_fit_is_refused_with_the_valid_parameters(
    text: str, reason: str
) -> None:
    with pytest.raises(Unprocessable) as refusal:
        fit_values(text)
    assert [finding.message for finding in refusal.value.findings] == [reason]


def test_unknown_field_of_a_record_is_refused() -> None:
    record = {"type": "record", "fields": [{"name": "width", "type": "int"}]}
    kind = ["null", {"type": "array", "items": record}, {"type": record}]
    boxes = make_plan(
        make_step("only"), outputs=[("only", "out")], parameters={"box": Parameter(type=kind)}
    )
    fit = partial(ParameterInput.fit_to_plan, plan=boxes, subject=NO_DATASET, files=())
    for value in ('{"width": 1}', '[{"width": 1}]', "null"):
        assert fit(read_parameters([f"box={value}"])) == {"box": json.loads(value)}
    for value, place in (
        ('{"width": 1, "widht": 2}', "widht"),
        ('[{"width": 1, "widht": 2}]', "[0].widht"),
    ):
        with pytest.raises(Unprocessable) as refusal:
            fit(read_parameters([f"box={value}"]))
        assert [finding.message for finding in refusal.value.findings] == [
            f"parameter 'box': field '{place}' is unknown (did you mean 'width'?); it is a record"
            " of width (int)"
        ]


def test_data_set_may_be_given_for_a_record_with_files() -> None:
    record = {"type": "record", "fields": {"width": "int", "mask": "File"}}
    box = Parameter(type=record, entries=DataEntries(type="Any"))
    boxes = make_plan(make_step("only"), outputs=[("only", "out")], parameters={"box": box})
    dataset = {"class": "File", "dataset": "6f0c7f5e-6c1b-5d0f-9a52-3b8c1d1a7e11"}
    typed = read_parameters([f"box={json.dumps(dataset)}"])
    assert typed.fit_to_plan(boxes, NO_DATASET, files=()) == {"box": dataset}


def test_parameter_missing_from_the_metadata_is_reported() -> None:
    with pytest.raises(Unprocessable) as refusal:
        fit_values(facts={"number_of": 7})
    assert "'run' (int) is required" in refusal.value.findings[0].message


@pytest.mark.parametrize("text", ["1e999", "-1e999", "NaN", "Infinity", '{"a": [NaN]}'])
def test_number_that_json_cannot_express_is_refused(text: str) -> None:
    """JSON would store it as null."""
    with pytest.raises(typer.BadParameter, match="'z': JSON has no number such as"):
        key_values([f"z={text}"], option="--meta")
    with pytest.raises(Unprocessable) as refusal:
        fit_values(f"gain={text}")
    message = refusal.value.findings[0].message
    assert message.startswith("parameter 'gain' (float): ")
    assert message.endswith("is not accepted as a number: give a finite number")
    assert fit_values(f"label={text}", "gain=1e308") == {"label": text, "gain": 1e308}, (
        "a text parameter takes the word as text"
    )
    assert key_values([f"z={json.dumps(text)}"], option="--meta") == {"z": text}


@pytest.mark.parametrize("texts", [["gain"], ["=1"], ["gain=1", "gain=2"]])
def test_malformed_or_repeated_parameter_is_refused(texts: list[str]) -> None:
    with pytest.raises(typer.BadParameter):
        read_parameters(texts)
