"""Contracts that are nested in code and flat on the wire.

Messages, stored plans and tasks are also read by instances of the previous release, which refuse
unknown fields (ADR 5). They know the fields of nested contracts as fields of the outer contract. So
the flat form is written, and both forms are read. Only the field with the nested contract is
annotated; new fields of that contract need nothing else.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, get_args

from pydantic import (
    BaseModel,
    GetJsonSchemaHandler,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from sluice.contracts.common.base import Contract

#: The outer contract, in the flat form or partly converted.
Wire = dict[str, Any]


@dataclass(frozen=True, slots=True)
class FlattenedField:
    """The annotation of a field of a ``FlatContract`` that is itself a contract.

    On the wire, the nested fields are beside those of the outer contract. If the field is a list,
    this applies to its first item, and the other items are in the list ``further``.

    Attributes:
        called: Names on the wire by name in code, for fields whose names differ.
        further: The name of the list of the other items; empty if the field is no list.
        implied: Functions of the outer contract that return values of nested fields. A field with
            this value is left out.
    """

    called: Mapping[str, str] = field(default_factory=dict)
    further: str = ""
    implied: Mapping[str, Callable[[Wire], Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Nested:
    """An annotated field.

    Attributes:
        names: Names on the wire of the nested contract's fields.
    """

    name: str
    flat: FlattenedField
    names: Mapping[str, str]

    def fold(self, wire: Wire) -> None:
        """Move the flat fields into the nested form, unless ``wire`` has it already.

        The checks of the contract find errors in the fields.
        """
        if self.name in wire:
            return
        inner = {own: wire.pop(name) for own, name in self.names.items() if name in wire}
        if not inner:
            return
        inner = {own: of(wire) for own, of in self.flat.implied.items()} | inner
        further = wire.pop(self.flat.further, []) if self.flat.further else None
        if further is None:
            wire[self.name] = inner
        else:
            wire[self.name] = [inner, *further] if isinstance(further, list) else further

    def unfold(self, wire: Wire, *, everything: bool) -> None:
        """Move the nested fields into the flat form.

        ``everything`` also writes an empty list of further items.
        """
        if self.name not in wire:
            return
        inner = wire.pop(self.name)
        if self.flat.further:
            inner, *further = inner
            if further or everything:
                wire[self.flat.further] = further
        implied = {own: of(wire) for own, of in self.flat.implied.items()}
        for own, value in inner.items():
            if own not in implied or value != implied[own]:
                wire[self.names[own]] = value

    def flatten(self, schema: JsonSchemaValue, handler: GetJsonSchemaHandler) -> None:
        """Move the nested fields in the JSON schema of the outer contract into the flat form."""
        properties, required = schema["properties"], schema.get("required", [])
        held = properties.pop(self.name)
        inner = handler.resolve_ref_schema(held["items"] if self.flat.further else held)
        needed: list[str] = []
        for own, name in self.names.items():
            properties[name] = dict(inner["properties"][own])
            if "title" in properties[name]:
                properties[name]["title"] = _title(name)
            if own in inner.get("required", []) and own not in self.flat.implied:
                needed.append(name)
        if self.flat.further:
            properties[self.flat.further] = {
                "type": "array",
                "items": held["items"],
                "title": _title(self.flat.further),
            }
        if self.name in required:
            place = required.index(self.name)
            required[place : place + 1] = needed


class FlatContract(Contract):
    """A contract whose fields with ``FlattenedField`` are nested in code and flat on the wire.

    Both forms are read. A mixture of both is an error.
    """

    _nested: ClassVar[tuple[_Nested, ...]] = ()

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        cls._nested = tuple(_nested_of(cls))

    @model_validator(mode="before")
    @classmethod
    def _folded(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        wire = dict(given)
        for nested in cls._nested:
            nested.fold(wire)
        return wire

    @model_serializer(mode="wrap")
    def _unfolded(self, plain: SerializerFunctionWrapHandler, info: SerializationInfo) -> Wire:
        wire: Wire = plain(self)
        for nested in self._nested:
            nested.unfold(wire, everything=not info.exclude_defaults)
        return wire

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return the schema of the flat form, for reading and for writing."""
        as_declared: Any = {
            key: value for key, value in core_schema.items() if key != "serialization"
        }
        schema = handler.resolve_ref_schema(handler(as_declared))
        for nested in cls._nested:
            nested.flatten(schema, handler)
        return schema


def _title(name: str) -> str:
    """Return the title of a field as pydantic makes it."""
    return name.replace("_", " ").title()


def _nested_of(model: type[BaseModel]) -> Iterator[_Nested]:
    for name, declared in model.model_fields.items():
        for flat in declared.metadata:
            if isinstance(flat, FlattenedField):
                held: Any = declared.annotation
                kind = get_args(held)[0] if flat.further else held
                names = {own: flat.called.get(own, own) for own in kind.model_fields}
                yield _Nested(name, flat, names)
