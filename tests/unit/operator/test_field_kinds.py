"""The kinds of form fields for CWL types."""

from typing import Any

import pytest

from sluice.contracts.templates.plan import FILES, DataEntries, Parameter
from wfms.operator.web.domain.field_kinds import (
    MAX_GROUP_DEPTH,
    FieldKind,
    FieldType,
    describe_parameter,
    describe_type,
)

LEVEL = {"type": "enum", "symbols": ["file:///a.cwl#level/low", "file:///a.cwl#level/high"]}


def record(fields: Any) -> dict[str, Any]:
    return {"type": "record", "fields": fields}


@pytest.mark.parametrize(
    ("cwl", "kind"),
    [
        ("int", FieldKind.INTEGER),
        ("double?", FieldKind.NUMBER),
        ({"type": ["null", "boolean"]}, FieldKind.TRUTH),
        (LEVEL, FieldKind.CHOICE),
        ("string[]", FieldKind.LINES),
        ({"type": "array", "items": "boolean"}, FieldKind.LINES),
        ({"type": "array", "items": LEVEL}, FieldKind.LINES),
        ({"type": "array", "items": ["int", "string"]}, FieldKind.LINES),
        ({"type": "array", "items": "int[]"}, FieldKind.JSON),
        ({"type": "array", "items": "int?"}, FieldKind.JSON),
        ({"type": "array", "items": record({"a": "int"})}, FieldKind.JSON),
        (["null", "int", LEVEL], FieldKind.UNION),
        (["int", "int[]"], FieldKind.JSON),
        (record({"a": "int"}), FieldKind.GROUP),
        (record({}), FieldKind.JSON),
        ({"type": "record"}, FieldKind.JSON),
        ("Any", FieldKind.JSON),
        ("null", FieldKind.JSON),
        ("other.yml#type", FieldKind.JSON),
    ],
)
def test_kind_of_field_depends_on_the_cwl_type(cwl: Any, kind: FieldKind) -> None:
    assert describe_type(cwl).kind is kind


def test_enumeration_offers_the_names_of_its_symbols() -> None:
    described = describe_type(["null", LEVEL])
    assert (described.choices, described.optional) == (("low", "high"), True)


def test_string_is_the_last_alternative_of_a_union() -> None:
    described = describe_type(["string", "boolean", "int"])
    assert [each.cwl for each in described.alternatives] == ["boolean", "int", "string"]


def test_fields_of_a_record_have_their_types_and_documentation() -> None:
    fields = [
        {"name": "file:///a.cwl#sample/label", "type": "string", "doc": ["Name", "of it"]},
        {"name": "size", "type": "int?", "label": "Size"},
        {"name": "library", "type": record({"kind": LEVEL})},
    ]
    label, size, library = describe_type(record(fields)).fields
    assert (label.name, label.doc, label.type.optional) == ("label", "Name\nof it", False)
    assert (size.name, size.doc, size.type.optional) == ("size", "Size", True)
    assert library.type.fields[0].type.kind is FieldKind.CHOICE


def test_deep_records_are_json() -> None:
    deep: Any = record({"x": "int"})
    for _ in range(MAX_GROUP_DEPTH):
        deep = record({"inner": deep})
    described = describe_type(deep)
    kinds = []
    while True:
        kinds.append(described.kind)
        if not described.fields:
            break
        described = described.fields[0].type
    assert kinds == [FieldKind.GROUP] * MAX_GROUP_DEPTH + [FieldKind.JSON]


def describe_bundle(cwl: Any) -> FieldType:
    return describe_parameter(Parameter(type=cwl, entries=DataEntries(type="Any")))


@pytest.mark.parametrize(
    "cwl",
    [FILES, "File?", ["null", FILES], record({"reads": "File", "label": "string"})],
)
def test_value_that_always_has_files_is_a_data_set(cwl: Any) -> None:
    assert describe_bundle(cwl).kind is FieldKind.FILES


def test_value_that_may_have_files_is_a_data_set_or_the_value_without_files() -> None:
    group = describe_bundle(record({"mask": "File?", "label": {"type": "string", "doc": "Name"}}))
    assert (group.kind, group.takes_dataset) == (FieldKind.GROUP, True)
    assert [(field.name, field.doc) for field in group.fields] == [("label", "Name")]
    union = describe_bundle(["string", "File"])
    assert (union.kind, union.takes_dataset) == (FieldKind.UNION, True)
    assert describe_bundle("Any").kind is FieldKind.JSON


def test_list_with_an_entry_per_item_is_a_data_set() -> None:
    items = {"type": "array", "items": record({"reads": "File"})}
    parameter = Parameter(type=items, entries=DataEntries(type="Any"), entry_per_item=True)
    assert describe_parameter(parameter).kind is FieldKind.FILES
