"""Values as texts of form fields, and back."""

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sluice.contracts.templates.parameters import fits
from sluice.contracts.templates.plan import Parameter
from tests.draws import count_examples
from tests.unit.wfms.chains.plans import make_plan, make_step
from wfms.operator.web.domain.field_kinds import describe_type
from wfms.operator.web.domain.posted_values import list_texts, read_values
from wfms.operator.web.domain.typed_values import (
    InvalidTypedValue,
    example_of,
    format_value,
    parse_text,
)

UID = "6f0c7f5e-6c1b-5d0f-9a52-3b8c1d1a7e11"
LEVEL = {"type": "enum", "symbols": ["low", "high"]}
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    st.sampled_from(["", " ", '""', '"a"', "7", "true", "low", "[]", '["a"]', "a\nb", '"\\n"']),
)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "int": st.integers(-(2**31), 2**31 - 1),
    "double": st.floats(allow_nan=False, allow_infinity=False),
    "boolean": st.booleans(),
    "string": TEXTS,
    json.dumps(LEVEL): st.sampled_from(["low", "high"]),
}


def _make_values(kind: Any) -> st.SearchStrategy[Any]:
    match kind:
        case list():
            return st.one_of(*map(_make_values, kind))
        case {"type": "array", "items": items}:
            return st.lists(_make_values(items), max_size=3)
        case {"type": "record", "fields": fields}:
            required = {name: field for name, field in fields.items() if "null" not in field}
            optional = {name: field[1] for name, field in fields.items() if "null" in field}
            return st.fixed_dictionaries(
                {name: _make_values(field) for name, field in required.items()},
                optional={name: _make_values(field) for name, field in optional.items()},
            )
    return VALUES[kind if isinstance(kind, str) else json.dumps(kind)]


SIMPLE = st.one_of(
    st.sampled_from(["int", "double", "boolean", "string", LEVEL]),
    st.just(["int", "string"]),
    st.just(["boolean", LEVEL, "double"]),
)
KINDS = st.recursive(
    SIMPLE,
    lambda inner: st.one_of(
        st.builds(lambda items: {"type": "array", "items": items}, inner),
        st.builds(
            lambda first, second: {
                "type": "record",
                "fields": {"first": first, "second": ["null", second], "third": "int"},
            },
            inner,
            inner,
        ),
    ),
    max_leaves=6,
)


@st.composite
def draw_typed_value(draw: st.DrawFn) -> tuple[Any, Any]:
    kind = draw(KINDS)
    return kind, draw(_make_values(kind))


@settings(max_examples=count_examples(300))
@given(case=draw_typed_value())
@example(case=("string", ""))
@example(case=(["int", "string"], "7"))
@example(case=({"type": "array", "items": "string"}, ["[]"]))
@example(case=({"type": "array", "items": "string"}, []))
def test_value_written_into_the_form_is_read_again(case: tuple[Any, Any]) -> None:
    kind, value = case
    assert fits(value, kind)
    texts = list_texts(value, describe_type(kind), ("value",))
    form = make_plan(
        make_step("only"),
        outputs=[("only", "out")],
        parameters={"value": Parameter(type=kind, required=True)},
    )
    # Browsers send line ends of text areas like this.
    sent = {key: text.replace("\n", "\r\n") for key, text in texts.items()}
    assert read_values(form, sent) == ({"value": value}, [])


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("string", '"quoted"', '"quoted"'),
        ("string", '""', ""),
        ("string", '"a\\nb"', "a\nb"),
        (["int", "string"], "7", 7),
        (["int", "string"], '"7"', "7"),
        (["string", "int"], "7", 7),
        (["int", "string"], "3000000000", "3000000000"),
        (["int", "double"], "3.5", 3.5),
        (["boolean", LEVEL], "low", "low"),
        ("int[]", "1\r\n\r\n 2 \r\n", [1, 2]),
        ("int[]", "[]", []),
        ("int[]", "[1, 2]", [1, 2]),
        ("string[]", "a b\n[1]", ["a b", "[1]"]),
        ("boolean[]", "true\nfalse", [True, False]),
        ("File", f" {UID} ", {"class": "File", "dataset": UID}),
        ("Directory", UID, {"class": "Directory", "dataset": UID}),
        ("File[]", UID, [{"class": "File", "dataset": UID}]),
    ],
)
def test_text_is_read_by_its_type(kind: Any, text: str, value: Any) -> None:
    read = parse_text(text, describe_type(kind))
    assert (type(read), read) == (type(value), value)


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("int", "3000000000", "must be int"),
        (["int", LEVEL], "medium", "must be int or one of low, high"),
        (LEVEL, "medium", "must be one of low, high"),
        ("int[]", "1\n\ntwo", "must be a whole number in line 3"),
        ({"type": "array", "items": LEVEL}, "medium", "must be one of low, high in line 1"),
        ("Any", "[" * 100_000, "must be written as JSON"),
        ("Any", '"\\ud800"', "must be written as JSON without unpaired surrogates"),
        ("File", "x", "must be the uid of a data set of one file"),
    ],
)
def test_text_of_another_type_is_refused(kind: Any, text: str, message: str) -> None:
    with pytest.raises(InvalidTypedValue) as refused:
        parse_text(text, describe_type(kind))
    assert str(refused.value) == message


def test_value_of_another_type_is_shown_as_json_or_plain_text() -> None:
    assert format_value({"a": 1}, describe_type("int")) == '{"a": 1}'
    assert format_value(["x"], describe_type("int[]")) == '["x"]'
    assert format_value(7, describe_type("string")) == "7"


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("int[][]", "[[1]]"),
        (
            {"type": "array", "items": {"type": "record", "fields": {"a": LEVEL, "b": "File?"}}},
            '[{"a": "low", "b": {"class": "File", "dataset": "UID"}}]',
        ),
        (["int", "int[]"], "1"),
        ({"type": "record", "fields": {f"field_{n}": "string" for n in range(99)}}, ""),
    ],
)
def test_example_has_the_shape_of_the_type(kind: Any, text: str) -> None:
    assert example_of(kind) == text
    assert not text or "UID" in text or fits(json.loads(text), kind)
