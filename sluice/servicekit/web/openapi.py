"""Corrections of the OpenAPI document that FastAPI makes.

The first paragraph of a route's docstring becomes its summary. A route that the operator service
forwards gets the extension ``x-gateway``, which says who may use it there. The definitions in the
schema of a body that a route parses itself move to the components. Schemas that nothing refers to
are removed: they remain when objects are nested in code and flat on the wire.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

from fastapi import FastAPI

from sluice.contracts.common.problems import Problem

PROBLEM_JSON = "application/problem+json"
#: The extension of an operation that the operator service forwards.
GATEWAY = "x-gateway"
#: The extension of an operation that says how clients send its requests.
CLIENT = "x-client"
_COMPONENTS = "#/components/schemas/"
_PROBLEM = {"$ref": f"{_COMPONENTS}Problem"}


def declare_problem(description: str) -> dict[str, Any]:
    """Return the declaration of a response that is a problem (RFC 9457).

    It refers to the schema, which ``complete_document`` adds. For each ``model`` in a declaration
    FastAPI would construct a validator, which took most of a service's start.
    """
    return {"description": description, "content": {PROBLEM_JSON: {"schema": _PROBLEM}}}


def client_hints(
    *,
    retry: bool = True,
    seconds: float | None = None,
    flat_body: bool = False,
    returns: str = "",
    returns_created: bool = False,
) -> dict[str, Any]:
    """Return the extension of an operation that says how the generated clients call it.

    Args:
        retry: Whether the request may be sent again after an error of the network.
        seconds: The timeout. None means that of the client.
        flat_body: Whether the call takes the fields of the body instead of the body.
        returns: The field of the response that the call returns. By default it returns all.
        returns_created: Whether the call also returns if the status was 201 instead of 200.
    """
    hints = {
        "retry": None if retry else False,
        "seconds": seconds,
        "flat_body": flat_body or None,
        "returns": returns or None,
        "returns_created": returns_created or None,
    }
    return {CLIENT: {name: value for name, value in hints.items() if value is not None}}


def complete_document(app: FastAPI) -> None:
    """Correct the OpenAPI document of an application."""
    generate = app.openapi

    @cache
    def openapi() -> dict[str, Any]:
        document = generate()
        schemas = document["components"]["schemas"]
        schemas["Problem"] = _problem_schema(schemas)
        for path, operations in document["paths"].items():
            for method, operation in operations.items():
                _set_summary(operation)
                gateway = app.state.policies[f"{method.upper()} {path}"].gateway
                if gateway is not None:
                    operation[GATEWAY] = {"role": gateway.role, "own": gateway.own}
                for body in operation.get("requestBody", {}).get("content", {}).values():
                    body["schema"] = _lift_definitions(body["schema"], schemas)
        document["components"]["schemas"] = dict(sorted(schemas.items()))
        remove_unused_schemas(document)
        return document

    app.openapi = openapi  # type: ignore[method-assign] # FastAPI's own way to another document


def _problem_schema(components: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a problem as FastAPI writes it, which is without defaults of null."""
    return _lift_definitions(
        _without_nulls(Problem.model_json_schema(mode="serialization")), components
    )


def _without_nulls(part: Any) -> Any:
    if isinstance(part, dict):
        return {key: _without_nulls(value) for key, value in part.items() if value is not None}
    return [_without_nulls(item) for item in part] if isinstance(part, list) else part


def remove_unused_schemas(document: dict[str, Any]) -> None:
    """Remove schemas that nothing in an OpenAPI or AsyncAPI document refers to."""
    schemas = document["components"]["schemas"]
    other_components = {
        name: part for name, part in document["components"].items() if name != "schemas"
    }
    used: set[str] = set()
    pending: list[Any] = [{**document, "components": other_components}]
    while pending:
        new = set(_named_schemas(pending.pop())) - used
        used |= new
        pending.extend(schemas[name] for name in new)
    document["components"]["schemas"] = {
        name: schema for name, schema in schemas.items() if name in used
    }


def _named_schemas(part: Any) -> Iterator[str]:
    """Yield the names of the component schemas that ``part`` refers to."""
    if isinstance(part, dict):
        reference = part.get("$ref")
        if isinstance(reference, str) and reference.startswith(_COMPONENTS):
            yield reference.removeprefix(_COMPONENTS)
    inside = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    for each in inside:
        yield from _named_schemas(each)


def _set_summary(operation: dict[str, Any]) -> None:
    """Replace the name of the function, FastAPI's summary, by the first paragraph."""
    if "description" in operation:
        summary, _, rest = operation.pop("description").partition("\n\n")
        operation["summary"] = " ".join(summary.split())
        if rest:
            operation["description"] = rest


def _lift_definitions(schema: dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    """Return the schema without ``$defs``, which move to the components."""
    for name, definition in schema.get("$defs", {}).items():
        components.setdefault(name, _refer(definition))
    lifted: dict[str, Any] = _refer({key: value for key, value in schema.items() if key != "$defs"})
    return lifted


def _refer(part: Any) -> Any:
    if isinstance(part, dict):
        return {
            key: value.replace("#/$defs/", _COMPONENTS)
            if key == "$ref" and isinstance(value, str)
            else _refer(value)
            for key, value in part.items()
        }
    return [_refer(item) for item in part] if isinstance(part, list) else part
