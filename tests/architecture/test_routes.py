"""Every route of every service declares its answers, of success and of failure."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import APIRoute

from scripts.docs.services import build_app
from scripts.generate_docs import makers
from sluice.contracts.access.services import SERVICES

HEALTH = {"/healthz", "/readyz", "/metrics"}
#: A page's requests go below its own address, to which its cookie is restricted.
PAGES = ("/ask/",)
#: Two words at least, and a full stop.
SENTENCE = re.compile(r"[A-Z]\S*( \S+)+\.")
#: Keys of a schema that does not describe the content of an object.
KEYS_WITHOUT_CONTENT = {"type", "title", "description", "additionalProperties"}

Operation = tuple[str, str, dict[str, Any]]


def list_operations(service: str) -> list[Operation]:
    """Return (method, path, operation) of the service's OpenAPI document."""
    paths: dict[str, dict[str, Any]] = build_app(service).openapi()["paths"]
    return [
        (method, path, operation)
        for path, methods in paths.items()
        for method, operation in methods.items()
    ]


def list_answers(operation: dict[str, Any], first_digits: str) -> dict[str, dict[str, Any]]:
    return {
        status: answer
        for status, answer in operation["responses"].items()
        if status[0] in first_digits
    }


every_service = pytest.mark.parametrize("service", SERVICES)


@every_service
def test_routes_are_below_one_versioned_root(service: str) -> None:
    routes = list_operations(service)
    assert any(path not in HEALTH for _, path, _ in routes)
    roots = ("/api/v1/", *PAGES)
    assert not [path for _, path, _ in routes if path not in HEALTH and not path.startswith(roots)]


def api_routes(service: str) -> list[APIRoute]:
    return [route for route in build_app(service).routes if isinstance(route, APIRoute)]


@every_service
def test_routes_are_functions_at_module_level(service: str) -> None:
    """FastAPI would analyse the routes of a function again for each application."""
    routes = api_routes(service)
    assert routes
    assert not [route.path for route in routes if "<locals>" in route.endpoint.__qualname__]


@every_service
def test_function_of_a_route_is_named_after_its_operation_id(service: str) -> None:
    routes = api_routes(service)
    # FastAPI makes the operation id of these functions of their names.
    others = {route.endpoint for route in routes if route.operation_id is None}
    for route in routes:
        if route.endpoint not in others:
            assert route.endpoint.__name__ == f"{route.operation_id}_route"


@every_service
def test_routes_declare_the_schema_of_their_answers(service: str) -> None:
    for method, path, operation in list_operations(service):
        if path in HEALTH:
            continue
        good = list_answers(operation, "23")
        assert good, f"{method} {path} declares no answer"
        for status, answer in good.items():
            described = all(content.get("schema") for content in answer.get("content", {}).values())
            described &= bool(answer.get("content")) or status in {"204", "304"} or method == "head"
            assert described, f"{method} {path} does not describe its answer {status}"


@every_service
def test_routes_declare_errors_as_problems(service: str) -> None:
    for method, path, operation in list_operations(service):
        if path in HEALTH:
            continue
        bad = list_answers(operation, "45")
        assert {"422", "503"} <= bad.keys(), f"{method} {path}: every route can answer 422 and 503"
        for status, answer in bad.items():
            schema = answer.get("content", {}).get("application/problem+json", {}).get("schema")
            assert schema == {"$ref": "#/components/schemas/Problem"}, (
                f"{method} {path} does not answer {status} with a problem"
            )


@every_service
def test_routes_of_a_single_object_can_answer_404(service: str) -> None:
    """A ``POST`` to a collection needs no 404.

    Groups are exempt: quotas of a group may be set before it has members. Quotas of people are
    exempt, as another service knows the people.
    """
    missing = [
        f"{method} {path}"
        for method, path, operation in list_operations(service)
        if "{" in path
        and "{group}" not in path
        and "/quotas/" not in path
        and "404" not in operation["responses"]
    ]
    assert not missing


def test_operator_service_forwards_the_routes_that_name_people_at_the_gateway() -> None:
    declared = {
        route: policy.gateway
        for service in SERVICES
        for route, policy in build_app(service).state.policies.items()
        if policy.gateway is not None
    }
    served = build_app("wfms.operator").state.policies
    assert declared
    assert declared == {route: served.get(route) for route in declared}


@every_service
def test_routes_have_a_sentence_as_their_summary(service: str) -> None:
    """Without a summary the framework writes the name of the function."""
    bare = [
        f"{method} {path}: {sentence!r}"
        for method, path, operation in list_operations(service)
        if not SENTENCE.fullmatch(sentence := operation["summary"])
    ]
    assert not bare


def list_references(document: Any) -> set[str]:
    """Return every ``$ref`` below a value."""
    if isinstance(document, dict):
        own = {document["$ref"]} if isinstance(document.get("$ref"), str) else set()
        return own.union(*map(list_references, document.values()))
    return set().union(*map(list_references, document)) if isinstance(document, list) else set()


def find_unresolved(document: dict[str, Any]) -> set[str]:
    """Return references that lead nowhere in the document."""
    missing = set()
    for reference in list_references(document):
        place: Any = document
        for part in reference.removeprefix("#/").split("/"):
            place = place.get(part) if isinstance(place, dict) else None
        if place is None:
            missing.add(reference)
    return missing


@pytest.mark.parametrize("path", [path for path in makers() if path.suffix == ".json"], ids=str)
def test_references_within_openapi_documents_are_resolved(path: Path) -> None:
    document = json.loads(makers()[path]())
    assert list_references(document)
    assert not find_unresolved(document)


@pytest.mark.parametrize("path", [path for path in makers() if path.suffix == ".json"], ids=str)
def test_openapi_documents_define_only_described_and_used_schemas(path: Path) -> None:
    document = json.loads(makers()[path]())
    schemas: dict[str, Any] = document["components"]["schemas"]
    root = "#/components/schemas/"
    unused = {name for name in schemas if f"{root}{name}" not in list_references(document)}
    assert not unused
    anything = {name for name, schema in schemas.items() if schema.keys() <= KEYS_WITHOUT_CONTENT}
    assert not anything, "a schema that allows any value describes nothing"
