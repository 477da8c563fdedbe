"""The form that starts a chain: its fields, and the values read from it."""

from typing import Any

import pytest

from sluice.contracts.common.problems import Finding
from sluice.contracts.templates.plan import DIRECTORIES, FILES, Parameter
from tests.unit.wfms.chains.plans import make_plan, make_step
from wfms.operator.web.domain.field_kinds import FieldKind
from wfms.operator.web.domain.posted_values import read_values
from wfms.operator.web.domain.start_form import list_fields

LEVEL = {"type": "enum", "symbols": ["low", "high"]}
PARAMETERS = {
    "cut": Parameter(type="int", required=True, doc="Smallest number of hits."),
    "gain": Parameter(type="float", default=1.5),
    "label": Parameter(type="string", default="raw"),
    "quick": Parameter(type="boolean", default=False),
    "level": Parameter(type=LEVEL, default="low"),
    "ranges": Parameter(type={"type": "array", "items": "int[]"}),
    "mask": Parameter(type="File"),
    "mates": Parameter(type=FILES),
}
PLAN = make_plan(make_step("only"), outputs=[("only", "out")], parameters=PARAMETERS)


def test_form_fields_show_types_defaults_and_metadata() -> None:
    fields = {field.name: field for field in list_fields(PLAN, {"gain": 2})}
    assert [field.kind for field in fields.values()] == [
        FieldKind.INTEGER,
        FieldKind.NUMBER,
        FieldKind.TEXT,
        FieldKind.TRUTH,
        FieldKind.CHOICE,
        FieldKind.JSON,
        FieldKind.FILE,
        FieldKind.FILES,
    ]
    assert [field.name for field in fields.values() if field.required] == ["cut"]
    assert {name: field.otherwise for name, field in fields.items()} == {
        "cut": "",
        "gain": "2, from the data set",
        "label": "raw",
        "quick": "false",
        "level": "low",
        "ranges": "",
        "mask": "",
        "mates": "",
    }
    assert fields["level"].choices == ("low", "high")
    assert fields["cut"].doc == "Smallest number of hits."
    assert not list_fields(PLAN, {"cut": 3})[0].required, "the metadata provide the value"


def test_form_values_are_read_by_their_types_and_empty_fields_are_skipped() -> None:
    uid = "0190f2b4-0000-7000-8000-000000000001"
    typed = {
        "cut": " 3 ",
        "gain": "1e2",
        "label": "7",
        "quick": "true",
        "level": "high",
        "ranges": "[[1, 2]]",
        "mask": uid,
    }
    values, findings = read_values(PLAN, typed)
    assert findings == []
    assert values == {
        "cut": 3,
        "gain": 100.0,
        "label": "7",
        "quick": True,
        "level": "high",
        "ranges": [[1, 2]],
        "mask": {"class": "File", "dataset": uid},
    }
    assert isinstance(values["cut"], int)
    assert read_values(PLAN, {"cut": " ", "unknown": "1"}) == ({}, [])


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("cut", "3.5", "must be a whole number"),
        ("cut", "1" * 30, "must be a number that can be represented"),
        ("cut", "9" * 5000, "must be a"),
        ("gain", "much", "must be a number"),
        ("gain", "inf", "must be a number that can be represented"),
        ("gain", "nan", "must be a number that can be represented"),
        ("quick", "yes", "must be true or false"),
        ("ranges", "[1,", "must be written as JSON"),
        ("ranges", "[[1, NaN]]", "must be written as JSON, which has no number such as NaN"),
        (
            "ranges",
            "[[1e400]]",
            "must be written as JSON, which has no number such as Infinity (numbers beyond 1.8e308"
            " become that)",
        ),
        ("mask", "x", "must be the uid of a data set of one file"),
    ],
)
def test_unreadable_form_value_is_reported_at_its_field(name: str, text: str, message: str) -> None:
    values, findings = read_values(PLAN, {name: text})
    assert values == {}
    assert message in findings[0].message
    fields: dict[str, Any] = {
        field.name: field for field in list_fields(PLAN, {}, typed={name: text}, findings=findings)
    }
    assert [refused for refused, field in fields.items() if field.problem] == [name]
    assert fields[name].problem.startswith(message)
    assert fields[name].typed == text


def test_findings_of_a_request_are_shown_at_their_fields() -> None:
    refused = [
        Finding.about_parameter("cut", "(int) is required and has no value"),
        Finding(message="something else"),
    ]
    assert {
        field.name: field.problem
        for field in list_fields(PLAN, {}, findings=refused)
        if field.problem
    } == {"cut": "(int) is required and has no value"}


def test_directory_parameter_takes_the_uid_of_a_data_set() -> None:
    uid = "6f0c7f5e-6c1b-5d0f-9a52-3b8c1d1a7e11"
    tree, trees = Parameter(type="Directory"), Parameter(type=DIRECTORIES)
    of_directories = PLAN.model_copy(update={"parameters": {"tree": tree, "trees": trees}})
    assert [field.kind for field in list_fields(of_directories, {})] == [
        FieldKind.FILE,
        FieldKind.FILES,
    ]
    values, findings = read_values(of_directories, {"tree": f" {uid}", "trees": uid})
    assert findings == []
    assert values["tree"] == {"class": "Directory", "dataset": uid}
    assert values["trees"]["dataset"] == uid


def test_hints_say_how_values_are_typed() -> None:
    lines = {"type": "array", "items": LEVEL}
    parameters = {
        "lines": Parameter(type=lines),
        "numbers": Parameter(type="int[]"),
        "union": Parameter(type=["string", "int"]),
        "rows": Parameter(type="int[][]"),
    }
    fields = list_fields(PLAN.model_copy(update={"parameters": parameters}), {})
    assert [(field.hint, field.example) for field in fields] == [
        ("One value a line: one of low, high.", ""),
        ("One value a line.", ""),
        (
            "Read as the first type that fits: int, then string. A text in quotes is a string:"
            ' "7".',
            "",
        ),
        ("Written as JSON.", "[[1]]"),
    ]
