"""Contracts that are nested in code and flat on the wire."""

from typing import Annotated, Any

import pytest
from pydantic import Field, ValidationError

from sluice.contracts.common.base import Contract, absent
from sluice.contracts.common.wire import FlatContract, FlattenedField


class Part(Contract):
    port: str
    mode: str
    optional: bool = False


class Inner(Contract):
    size: int = 1
    note: Annotated[str | None, Field(exclude_if=absent)] = None


def _mode(wire: dict[str, Any]) -> str:
    return "all" if wire.get("merges") else "each"


class Outer(FlatContract):
    name: str
    merges: bool = False
    parts: Annotated[
        list[Part],
        Field(min_length=1),
        FlattenedField(
            called={"port": "first_port", "mode": "first_mode"},
            further="side_parts",
            implied={"mode": _mode},
        ),
    ]
    inner: Annotated[Inner, FlattenedField()] = Inner()


ONE = Part(port="a", mode="each")
TWO = Part(port="b", mode="one", optional=True)

FORMS: list[tuple[Outer, dict[str, Any]]] = [
    (Outer(name="n", parts=[ONE]), {"first_port": "a", "optional": False, "side_parts": []}),
    (
        Outer(name="n", parts=[TWO, ONE], inner=Inner(size=2, note="x")),
        {
            "first_port": "b", "first_mode": "one", "optional": True, "size": 2, "note": "x",
            "side_parts": [{"port": "a", "mode": "each", "optional": False}],
        },
    ),
    (
        Outer(name="n", merges=True, parts=[Part(port="a", mode="all")]),
        {"first_port": "a", "optional": False, "side_parts": []},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("value", "flat"), FORMS)
def test_contract_is_written_flat_and_read_back(value: Outer, flat: dict[str, Any]) -> None:
    written = value.model_dump(mode="json")
    assert written == {"name": "n", "merges": value.merges, "size": 1} | flat
    assert Outer.model_validate(written) == value
    assert Outer.model_validate_json(value.model_dump_json()) == value
    assert Outer.model_validate(value.model_dump(exclude_defaults=True)) == value


def test_default_values_are_left_out() -> None:
    value = Outer(name="n", parts=[ONE])
    assert value.model_dump(exclude_defaults=True) == {"name": "n", "first_port": "a"}
    assert "note" not in value.model_dump()


def test_nested_form_is_read() -> None:
    nested = {"name": "n", "parts": [ONE.model_dump()], "inner": {"size": 3}}
    assert Outer.model_validate(nested) == Outer(name="n", parts=[ONE], inner=Inner(size=3))


@pytest.mark.parametrize(
    ("wrong", "where"),
    [
        ({"size": "many"}, ("inner", "size")),
        ({"sizes": 1}, ("sizes",)),
        ({"inner": {}, "size": 1}, ("size",)),
        ({"parts": [ONE.model_dump()]}, ("first_port",)),
        ({"side_parts": 5}, ("parts",)),
        ({"side_parts": [{}]}, ("parts", 1, "port")),
    ],
)
def test_invalid_and_mixed_forms_are_refused(wrong: dict[str, Any], where: tuple[Any, ...]) -> None:
    with pytest.raises(ValidationError) as refused:
        Outer.model_validate({"name": "n", "first_port": "a", **wrong})
    assert where in [error["loc"] for error in refused.value.errors()]


@pytest.mark.parametrize("mode", ["validation", "serialization"])
def test_json_schema_describes_the_flat_form(mode: Any) -> None:
    schema = Outer.model_json_schema(mode=mode)
    assert set(schema["properties"]) == {
        "name", "merges", "first_port", "first_mode", "optional", "side_parts", "size", "note",
    }  # fmt: skip
    assert {"name", "first_port"} <= set(schema["required"])
    assert "first_mode" not in schema["required"]


def test_validation_does_not_change_its_input() -> None:
    given = {"name": "n", "first_port": "a", "size": 2}
    Outer.model_validate(given)
    assert given == {"name": "n", "first_port": "a", "size": 2}
