"""Operations of an OpenAPI document as the generated clients need them."""

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any

from pydantic import BaseModel

import sluice.contracts
from sluice.servicekit.web.openapi import CLIENT, GATEWAY

ROOT = "/api/v1"
COMPONENTS = "#/components/schemas/"
#: Python types by type and by format of a schema.
_TYPES = {
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "string": "str",
    "object": "dict[str, Any]",
}
_FORMATS = {"uuid": "UUID", "date-time": "datetime"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an operation with its Python type."""

    name: str
    type: str

    @property
    def optional(self) -> str:
        """The parameter as it is declared if it may be omitted."""
        return f"{self.name}: {self.type} | None = None"


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of an OpenAPI document."""

    method: str
    path: str
    document: Mapping[str, Any]
    #: The schemas of the document by name.
    schemas: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The name of the method."""
        name: str = self.document["operationId"]
        return name

    @property
    def is_forwarded(self) -> bool:
        """Whether the operator service forwards the requests of users."""
        return GATEWAY in self.document

    @property
    def hints(self) -> Mapping[str, Any]:
        """The arguments of ``client_hints`` at the route."""
        hints: Mapping[str, Any] = self.document.get(CLIENT, {})
        return hints

    def list_parameters(self, place: str) -> list[Parameter]:
        """Return the parameters in ``path`` or ``query``."""
        return [
            Parameter(parameter["name"], type_name(parameter["schema"]))
            for parameter in self.document.get("parameters", ())
            if parameter["in"] == place
        ]

    @property
    def answer(self) -> dict[str, Any] | None:
        """The schema of the response; empty if it has no body, and None if it is not JSON."""
        contents = [
            response.get("content", {})
            for status, response in self.document["responses"].items()
            if status.startswith("2")
        ]
        if not any(contents):
            return {}
        schema: dict[str, Any] | None = contents[0].get("application/json", {}).get("schema")
        return schema

    @property
    def body(self) -> str | None:
        """The type of the body; empty if there is none, and None if it is no contract."""
        if "requestBody" not in self.document:
            return ""
        content = self.document["requestBody"]["content"]
        if "application/octet-stream" in content:
            return "bytes"
        schema = content.get("application/json", {}).get("schema", {})
        reference = schema.get("anyOf", [schema])[0].get("$ref")
        return None if reference is None else class_name(reference)

    @property
    def has_call(self) -> bool:
        """Whether the clients have a call for the operation."""
        return (
            self.path.startswith(ROOT)
            and self.answer is not None
            and self.body is not None
            and not self.name.endswith(("audit_rows", "audit_verdict"))
        )


def list_operations(document: Mapping[str, Any]) -> list[Operation]:
    """Return the operations of an OpenAPI document by path and method."""
    return [
        Operation(method.upper(), path, operation, document["components"]["schemas"])
        for path, operations in sorted(document["paths"].items())
        for method, operation in sorted(operations.items())
        if method != "head"
    ]


@cache
def contracts() -> dict[str, type[Any]]:
    """Return the models and enumerations of the contracts by name."""
    found: dict[str, type[Any]] = {}
    for module in pkgutil.walk_packages(sluice.contracts.__path__, "sluice.contracts."):
        for name, value in vars(importlib.import_module(module.name)).items():
            is_class = isinstance(value, type) and issubclass(value, BaseModel | Enum)
            if is_class and value.__module__ == module.name:
                found[name] = value
    return found


def class_name(reference: str) -> str:
    """Return the class of the contracts that a reference to a schema names.

    Raises:
        ValueError: There is none.
    """
    name = reference.removeprefix(COMPONENTS)
    if name not in contracts():
        raise ValueError(f"{name} is no class of sluice.contracts")
    return name


def type_name(schema: Mapping[str, Any], *, sequence: str = "Sequence") -> str:
    """Return the Python type of a schema without null, with ``sequence`` as the type of arrays."""
    match schema:
        case {"$ref": reference}:
            return class_name(reference)
        case {"anyOf": options}:
            types = [
                type_name(option, sequence=sequence)
                for option in options
                if option.get("type") != "null"
            ]
            return " | ".join(dict.fromkeys(types))
        case {"type": "array", "items": items}:
            return f"{sequence}[{type_name(items)}{' | None' if is_nullable(items) else ''}]"
        case {"format": name} if name in _FORMATS:
            return _FORMATS[name]
        case _:
            return _TYPES[schema["type"]]


def is_nullable(schema: Mapping[str, Any]) -> bool:
    """Return whether a schema allows null."""
    return {"type": "null"} in schema.get("anyOf", ())
