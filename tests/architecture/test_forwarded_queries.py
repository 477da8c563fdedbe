"""Forwarded routes have exactly the query parameters of the service that answers."""

import re
from typing import Any

import pytest

from scripts.docs.services import app_of
from wfms.operator.gateway.api.forwarded_queries import QUERIES
from wfms.operator.gateway.api.forwarded_table import FORWARDED, Forwarded

_PART = re.compile(r"<(?:\w+:)?\w+>|\{\w+\}")


def _queries(service: str, method: str, path: str) -> set[str]:
    paths: dict[str, Any] = app_of(service).openapi()["paths"]
    [operation] = [
        item[method.lower()]
        for each, item in paths.items()
        if _PART.sub("{}", each) == _PART.sub("{}", path) and method.lower() in item
    ]
    return {part["name"] for part in operation.get("parameters", []) if part["in"] == "query"}


@pytest.mark.parametrize("route", FORWARDED, ids=lambda route: f"{route.method} {route.rule}")
def test_forwarded_route_has_the_query_parameters_of_its_service(route: Forwarded) -> None:
    path = f"/api/v1{route.rule}"
    told = _queries("wfms.operator", route.method, path)
    assert told == _queries(route.service, route.method, path)
    declared = QUERIES.get((route.method, route.rule))
    assert told == set(declared.model_fields if declared else ())
