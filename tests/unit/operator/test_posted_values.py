"""Values of records in the posted start form, and their errors."""

from typing import Any

import pytest

from sluice.contracts.common.problems import Finding
from sluice.contracts.templates.plan import DataEntries, Parameter, Plan
from tests.unit.wfms.chains.plans import make_plan, make_step
from wfms.operator.web.domain.field_problems import group_problems
from wfms.operator.web.domain.posted_values import check_values, read_values
from wfms.operator.web.domain.start_form import Field, list_fields, list_other_findings

UID = "6f0c7f5e-6c1b-5d0f-9a52-3b8c1d1a7e11"
LIBRARY = {"type": "record", "fields": {"kind": "string", "sizes": "int[]?"}}
SAMPLE = {
    "type": "record",
    "fields": {
        "label": {"type": "string", "doc": "Name of the sample."},
        "control": "boolean?",
        "library": ["null", LIBRARY],
        "rows": {"type": "array", "items": {"type": "array", "items": "int"}},
    },
}


def make_plan_with_parameters(**parameters: Parameter) -> Plan:
    return make_plan(make_step("only"), outputs=[("only", "out")], parameters=parameters)


SAMPLES = make_plan_with_parameters(
    sample=Parameter(type=SAMPLE, required=True),
    other=Parameter(type=SAMPLE),
    cut=Parameter(type="int", default=3),
)
BLANK = {
    "other/label": "",
    "other/control": "",
    "other/library/kind": " ",
    "other/library/sizes": "\r\n",
    "other/rows": "",
    "cut": "",
}


def list_fields_by_key(plan: Plan, *arguments: Any, **options: Any) -> dict[str, Field]:
    return {
        inner.key: inner
        for field in list_fields(plan, *arguments, **options)
        for inner in field.walk()
    }


def test_record_is_read_from_its_fields_and_an_empty_optional_record_is_left_out() -> None:
    typed = BLANK | {
        "sample/label": "a",
        "sample/control": "false",
        "sample/library/kind": "paired",
        "sample/library/sizes": "1\r\n2",
        "sample/rows": "[[1], []]",
    }
    values, findings = read_values(SAMPLES, typed)
    assert findings == []
    assert values == {
        "sample": {
            "label": "a",
            "control": False,
            "library": {"kind": "paired", "sizes": [1, 2]},
            "rows": [[1], []],
        }
    }
    assert check_values(SAMPLES, values, known_values={}, unreadable=[]) == []


def test_errors_are_shown_at_the_fields_that_caused_them() -> None:
    typed = BLANK | {
        "sample/label": "a",
        "sample/control": "perhaps",
        "sample/library/kind": "",
        "sample/library/sizes": "1\r\ntwo",
        "sample/rows": "",
        "cut": "3.5",
    }
    values, findings = read_values(SAMPLES, typed)
    findings += check_values(SAMPLES, values, known_values={}, unreadable=findings)
    shown = list_fields_by_key(SAMPLES, {}, typed=typed, findings=findings)
    assert {key: field.problem for key, field in shown.items() if field.problem} == {
        "sample/control": "must be true or false, not 'perhaps'",
        "sample/library/kind": "(string) is required and has no value",
        "sample/library/sizes": "must be a whole number in line 2, not 'two'",
        "sample/rows": "(a list of a list of int) is required and has no value",
        "cut": "must be a whole number, not '3.5'",
    }
    assert {key: field.typed for key, field in shown.items() if key in typed} == typed
    assert list_other_findings(SAMPLES, findings) == []


def test_wrong_json_is_reported_at_its_text_area() -> None:
    typed = {"sample/label": "a", "sample/rows": '[[1], ["x"]]'}
    values, findings = read_values(SAMPLES, typed)
    assert findings == []
    findings = check_values(SAMPLES, values, known_values={}, unreadable=[])
    shown = list_fields_by_key(SAMPLES, {}, typed=typed, findings=findings)
    assert [key for key, field in shown.items() if field.problem] == ["sample/rows"]
    assert shown["sample/rows"].problem == "field 'rows[1][0]' must be int, not 'x'"


def test_unknown_field_in_json_is_refused() -> None:
    rows = {"type": "array", "items": {"type": "record", "fields": {"label": "string"}}}
    table = make_plan_with_parameters(rows=Parameter(type=rows))
    values, _ = read_values(table, {"rows": '[{"label": "a", "lable": "b"}]'})
    (finding,) = check_values(table, values, known_values={}, unreadable=[])
    assert "field '[0].lable' is unknown" in finding.message


def test_missing_required_record_is_reported_at_its_required_fields() -> None:
    fields = list_fields_by_key(SAMPLES, {})
    assert [key for key, field in fields.items() if field.required] == [
        "sample",
        "sample/label",
        "sample/rows",
    ]
    assert fields["sample/label"].doc == "Name of the sample."
    assert [key for key, field in fields.items() if field.needed and "/" in key] == [
        "sample/label",
        "sample/library/kind",
        "sample/rows",
        "other/label",
        "other/library/kind",
        "other/rows",
    ]
    typed = {key.replace("other", "sample"): text for key, text in BLANK.items()}
    values, findings = read_values(SAMPLES, typed)
    shown = list_fields_by_key(SAMPLES, {}, typed=typed, findings=findings)
    assert [key for key, field in shown.items() if field.problem] == [
        "sample/label",
        "sample/rows",
    ]
    unsent, _ = read_values(SAMPLES, {})
    (finding,) = check_values(SAMPLES, unsent, known_values={}, unreadable=[])
    assert finding.message.startswith("parameter 'sample' (a record of")
    assert values == {"sample": {}}


def test_required_record_of_optional_fields_may_be_empty() -> None:
    options = make_plan_with_parameters(
        options=Parameter(type={"type": "record", "fields": {"a": "int?"}}, required=True)
    )
    assert read_values(options, {"options/a": ""}) == ({"options": {}}, [])


@pytest.mark.parametrize("known", [{}, {"sample": {"label": "bound", "rows": []}}])
def test_prefilled_record_is_left_out_until_it_is_changed(known: dict[str, Any]) -> None:
    default = {"label": "a", "library": {"kind": "p", "sizes": [1, 2]}, "rows": [[1]]}
    filled = make_plan_with_parameters(sample=Parameter(type=SAMPLE, default=default))
    fields = list_fields_by_key(filled, known)
    typed = {key: field.typed.replace("\n", "\r\n") for key, field in fields.items()}
    assert typed["sample/label"] == ("bound" if known else "a")
    assert typed["sample/library/sizes"] == ("" if known else "1\r\n2")
    assert read_values(filled, typed, known) == ({}, [])
    assert not list_fields_by_key(filled, known, typed=typed)["sample"].changed
    changed = typed | {"sample/label": "b"}
    values, _ = read_values(filled, changed, known)
    assert values == {"sample": {**(known.get("sample") or default), "label": "b"}}
    assert list_fields_by_key(filled, known, typed=changed)["sample"].changed
    cleared = dict.fromkeys(typed, "")
    assert read_values(filled, cleared, known) == ({}, [])


def test_record_with_files_is_a_data_set_or_its_fields() -> None:
    kind = {"type": "record", "fields": {"mask": "File?", "label": "string"}}
    masked = make_plan_with_parameters(
        sample=Parameter(type=kind, required=True, entries=DataEntries(type="Any"))
    )
    (group,) = list_fields(masked, {})
    assert [(inner.key, inner.required) for inner in group.fields] == [
        ("sample", False),
        ("sample/label", False),
    ]
    dataset = {"class": "File", "dataset": UID}
    assert read_values(masked, {"sample": UID, "sample/label": ""}) == ({"sample": dataset}, [])
    record, _ = read_values(masked, {"sample": "", "sample/label": "a"})
    assert record == {"sample": {"label": "a"}}
    assert check_values(masked, record, known_values={}, unreadable=[]) == []
    both = {"sample": UID, "sample/label": "a"}
    values, findings = read_values(masked, both)
    (group,) = list_fields(masked, {}, typed=both, findings=findings)
    assert values == {}
    assert [inner.problem for inner in group.walk() if inner.problem] == [
        "is either a data set or the fields of the record, not both"
    ]
    (group,) = list_fields(masked, {"sample": dataset})
    assert [inner.typed for inner in group.fields] == [UID, ""]
    assert read_values(masked, {"sample": UID}, {"sample": dataset}) == ({}, [])


def test_findings_are_grouped_by_the_innermost_field() -> None:
    findings = [
        Finding.about_parameter("a", "must be int, not 'x'", place="b.c[0].d"),
        Finding.about_parameter("a", "is unknown", place="bc"),
        Finding.about_parameter("ab", "is unknown"),
        Finding(message="parameter 'a' in a sentence"),
    ]
    keys = ["a", "a/b", "a/b/c", "a/b/e", "ab"]
    by_key, others = group_problems(findings, ["a"], keys)
    assert by_key == {
        "a/b/c": ["field 'b.c[0].d' must be int, not 'x'"],
        "a": ["field 'bc' is unknown"],
    }
    assert others == findings[2:]
