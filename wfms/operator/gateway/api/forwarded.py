"""REST routes of other services, forwarded with the same path, query and answer.

The services declare these routes. ``forwarded.json`` is assembled from their OpenAPI documents.
"""

import json
from collections.abc import Mapping
from functools import partial
from importlib.resources import files
from typing import Any

import httpx
from flask import request

from sluice.contracts.access.access import Role
from sluice.servicekit.access.policy import RoutePolicy
from sluice.servicekit.web.openapi import GATEWAY
from wfms.operator.gateway.usecases.forward_request import ForwardedRequest, forward_request
from wfms.operator.http.body import read_body
from wfms.operator.http.route import Route, RouteResponse, View

#: Root of the paths of REST routes.
ROOT = "/api/v1"


def forwarded_document() -> dict[str, Any]:
    """Return the OpenAPI document of the forwarded routes."""
    text = (files("wfms.operator.gateway") / "forwarded.json").read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(text)
    return document


def forwarded_routes(others: Mapping[str, httpx.AsyncClient], *, largest: int) -> list[Route]:
    """Return the declarations of the forwarded routes.

    Args:
        others: HTTP clients by service.
        largest: Limit of a body in bytes. One request may register ten thousand files.
    """
    return [
        Route(
            method.upper(),
            _build_rule(path, operation),
            operation["operationId"],
            _create_view(others, operation[GATEWAY]["service"]),
            RoutePolicy(Role(operation[GATEWAY]["role"]), own=operation[GATEWAY]["own"]),
            operation["summary"],
            operation=operation,
            read=partial(_read_request, _media_type(operation), largest=largest),
        )
        for path, operations in forwarded_document()["paths"].items()
        for method, operation in operations.items()
    ]


def _media_type(operation: dict[str, Any]) -> str:
    """Return the media type of the body if the route accepts only one, else an empty string."""
    media_types = list(operation.get("requestBody", {}).get("content", {}))
    return media_types[0] if len(media_types) == 1 else ""


def _read_request(media_type: str, *, largest: int) -> ForwardedRequest:
    """Return the current request.

    Its body has the media type that the route accepts, whatever the client calls it. The other
    routes of the operator service do not read the header either.
    """
    content = read_body(largest)
    return ForwardedRequest(
        request.method,
        request.path,
        request.query_string.decode("latin-1"),
        content,
        media_type or request.content_type or "",
    )


def _build_rule(path: str, operation: dict[str, Any]) -> str:
    """Return the path with Flask's converters."""
    rule = path.removeprefix(ROOT)
    for parameter in operation.get("parameters", ()):
        if parameter["in"] == "path":
            schema, name = parameter["schema"], parameter["name"]
            integer = "int" if schema["type"] == "integer" else "string"
            kind = "uuid" if schema.get("format") == "uuid" else integer
            rule = rule.replace(f"{{{name}}}", f"<{kind}:{name}>")
    return rule


def _create_view(others: Mapping[str, httpx.AsyncClient], service: str) -> View:
    async def view(body: ForwardedRequest, **_path: Any) -> RouteResponse:
        response = await forward_request(others[service], service, body)
        return RouteResponse(response.content, response.status, response.content_type)

    return view
