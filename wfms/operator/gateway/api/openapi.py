"""The OpenAPI document of the REST interface, generated from the declarations of its routes.

The operations of forwarded routes are those in the documents of the services that answer.
"""

import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from sluice.contracts.common.problems import (
    Forbidden,
    NotAvailable,
    Problem,
    ServiceError,
    Unauthenticated,
    Unprocessable,
)
from sluice.servicekit.web.openapi import GATEWAY, remove_unused_schemas
from wfms.operator.errors import RequestTooLarge, UnsupportedMediaType
from wfms.operator.gateway.api.forwarded import ROOT, forwarded_document
from wfms.operator.http.route import UPLOAD_PARAMETERS, Route

_REF = "#/components/schemas/{model}"
_TYPES = {"uuid": {"type": "string", "format": "uuid"}, "int": {"type": "integer"}}
_TEXT, _BINARY = {"type": "string"}, {"type": "string", "format": "binary"}
#: Form of an upload: a text, several files, or one zip archive.
_FORM = {"name": _TEXT, "cwl": _TEXT, "main": _TEXT, "files": {"type": "array", "items": _BINARY}}
_PART = re.compile(r"<(?:(\w+):)?(\w+)>")


def document(routes: list[Route], *, other_document: dict[str, Any]) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document.

    Args:
        routes: The declarations of the Flask routes.
        other_document: The document of the routes that are not Flask's.
    """
    models: set[type[BaseModel]] = {Problem}
    for route in routes:
        models |= {model for model in (route.answer, route.body) if model is not None}
    ordered = sorted(models, key=lambda model: model.__name__)
    _, schemas = models_json_schema([(model, "validation") for model in ordered], ref_template=_REF)
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        path = ROOT + _PART.sub(r"{\2}", route.rule)
        paths.setdefault(path, {})[route.method.lower()] = _describe_operation(route)
    result: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "Sluice wfms.operator", "version": "1"},
        "paths": paths
        | {path: item for path, item in other_document["paths"].items() if path.startswith(ROOT)},
        "components": {
            "schemas": forwarded_document()["components"]["schemas"]
            | other_document["components"]["schemas"]
            | _query_schemas(routes)
            | schemas["$defs"]
        },
    }
    remove_unused_schemas(result)
    return result


def _describe_operation(route: Route) -> dict[str, Any]:
    if route.operation is not None:
        return _forwarded_operation(route.operation)
    answers: dict[str, Any] = {
        str(status): {"description": description} | _describe_answer(route)
        for status, description in ((route.status, "Done"), (route.again, "Already done"))
        if status is not None
    }
    # Any request can meet the first four errors, any request with a body the fifth.
    errors: tuple[type[ServiceError], ...] = (
        Unauthenticated,
        Forbidden,
        Unprocessable,
        NotAvailable,
        *([RequestTooLarge] if route.body is not None or route.sends_bytes else []),
        *([UnsupportedMediaType] if route.uploads else []),
        *route.errors,
    )
    answers |= dict(map(_describe_error, errors))
    operation: dict[str, Any] = {
        "operationId": route.operation_id,
        **route.client,
        "summary": route.summary,
        "parameters": _describe_parameters(route),
        "responses": answers,
    }
    if route.body is not None:
        body = _describe_content(route.body) | {"required": True}
        if route.uploads:
            body["content"]["text/plain"] = {"schema": _TEXT}
            body["content"]["application/zip"] = {"schema": _BINARY}
            body["content"]["multipart/form-data"] = {
                "schema": {"type": "object", "properties": _FORM}
            }
        operation["requestBody"] = body
    if route.sends_bytes:
        operation["requestBody"] = {
            "content": {"application/octet-stream": {"schema": _BINARY}},
            "required": True,
        }
    return operation


def _forwarded_operation(operation: Mapping[str, Any]) -> dict[str, Any]:
    """Return the operation of the service that answers, as the gateway serves it.

    The gateway refuses bodies that are too large before it forwards them.
    """
    gateway_errors = [RequestTooLarge] if "requestBody" in operation else []
    answers = operation["responses"] | dict(map(_describe_error, gateway_errors))
    return {key: value for key, value in operation.items() if key != GATEWAY} | {
        "responses": answers
    }


def _describe_error(error: type[ServiceError]) -> tuple[str, dict[str, Any]]:
    """Return the status and the declaration of an error response."""
    content = _describe_content(Problem, media="application/problem+json")
    return str(error.status), {"description": error.title} | content


def _describe_answer(route: Route) -> dict[str, Any]:
    if route.media is not None:
        return {"content": {route.media: {"schema": _TEXT}}}
    return _describe_content(route.answer, many=route.many)


def _describe_parameters(route: Route) -> list[dict[str, Any]]:
    parameters = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": _TYPES.get(kind, {"type": "string"}),
        }
        for kind, name in _PART.findall(route.rule)
    ]
    if route.uploads:
        parameters += [
            {"name": name, "in": "query", "required": False, "schema": {"type": "string"}}
            for name in UPLOAD_PARAMETERS
        ]
    query = route.query or route.forwarded_query
    if query is not None:
        schema = query.model_json_schema(ref_template=_REF)
        for name, value in schema.get("properties", {}).items():
            parameters.append(
                {
                    "name": name,
                    "in": "query",
                    "required": name in schema.get("required", []),
                    "schema": value,
                }
            )
    return parameters


def _query_schemas(routes: list[Route]) -> dict[str, Any]:
    """Return the schemas that query parameters refer to."""
    queries = [
        query.model_json_schema(ref_template=_REF)
        for route in routes
        if (query := route.query or route.forwarded_query) is not None
    ]
    return {name: schema for query in queries for name, schema in query.get("$defs", {}).items()}


def _describe_content(
    model: type[BaseModel] | None, *, many: bool = False, media: str = "application/json"
) -> dict[str, Any]:
    if model is None:
        return {}
    one = {"$ref": _REF.format(model=model.__name__)}
    return {"content": {media: {"schema": {"type": "array", "items": one} if many else one}}}
