"""Every route of every service says what it answers, when it goes well and when it does not."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from scripts.docs.service_pages import route_sentence
from scripts.docs.services import SERVICES, app_of
from scripts.generate_docs import makers
from wfms.operator.api.rest.forwarded_table import FORWARDED, Forwarded

HEALTH = {"/healthz", "/readyz", "/metrics"}
#: What a page asks stands below its own address, for which its cookie is.
PAGES = ("/ask/",)
#: Three words at least, and a full stop.
SENTENCE = re.compile(r"[A-Z]\S*( \S+){2,}\.")
#: A part of an address that stands for a name, as Flask and as the documents write it.
_PART = re.compile(r"<[^>]*>|\{[^}]*\}")
#: Keys of a schema that says nothing of what is in an object.
ANYTHING = {"type", "title", "description", "additionalProperties"}

Operation = tuple[str, str, dict[str, Any]]


def operations(service: str) -> list[Operation]:
    """(method, path, operation) of the service's OpenAPI document."""
    paths: dict[str, dict[str, Any]] = app_of(service).openapi()["paths"]
    return [
        (method, path, operation)
        for path, methods in paths.items()
        for method, operation in methods.items()
    ]


def answers(operation: dict[str, Any], first_digits: str) -> dict[str, dict[str, Any]]:
    return {
        status: answer
        for status, answer in operation["responses"].items()
        if status[0] in first_digits
    }


every_service = pytest.mark.parametrize("service", SERVICES)


@every_service
def test_routes_live_under_one_versioned_root(service: str) -> None:
    found = operations(service)
    assert any(path not in HEALTH for _, path, _ in found)
    roots = ("/api/v1/", *PAGES)
    assert not [path for _, path, _ in found if path not in HEALTH and not path.startswith(roots)]


@every_service
def test_routes_declare_what_they_answer(service: str) -> None:
    for method, path, operation in operations(service):
        if path in HEALTH:
            continue
        good = answers(operation, "23")
        assert good, f"{method} {path} declares no answer"
        for status, answer in good.items():
            described = all(content.get("schema") for content in answer.get("content", {}).values())
            described &= bool(answer.get("content")) or status in {"204", "304"} or method == "head"
            assert described, f"{method} {path} answers {status} with anything"


@every_service
def test_errors_are_problems(service: str) -> None:
    for method, path, operation in operations(service):
        if path in HEALTH:
            continue
        bad = answers(operation, "45")
        assert {"422", "503"} <= bad.keys(), (
            f"{method} {path}: any request can be of the wrong form or meet a database that is away"
        )
        for status, answer in bad.items():
            schema = answer.get("content", {}).get("application/problem+json", {}).get("schema")
            assert schema == {"$ref": "#/components/schemas/Problem"}, (
                f"{method} {path} answers {status} not with a problem"
            )


@every_service
def test_routes_with_an_id_can_answer_that_there_is_no_such_thing(service: str) -> None:
    """Creating by ``POST`` to a collection needs none; a path that names one thing does.

    A group is no thing that exists or not: its quotas may be set before anybody is in it; those of
    people are known to the service that knows people.
    """
    missing = [
        f"{method} {path}"
        for method, path, operation in operations(service)
        if "{" in path
        and "{group}" not in path
        and "/quotas/" not in path
        and "404" not in operation["responses"]
    ]
    assert not missing


@pytest.mark.parametrize("row", FORWARDED, ids=lambda row: f"{row.method} {row.rule}")
def test_what_is_forwarded_is_answered_as_its_service_says(row: Forwarded) -> None:
    """But for bodies that are too large, which are refused before they are forwarded."""
    path = _PART.sub("{}", f"/api/v1{row.rule}")
    here, there = (
        operation["responses"]
        for service in ("wfms.operator", row.service)
        for method, known, operation in operations(service)
        if (method.upper(), _PART.sub("{}", known)) == (row.method, path)
    )
    assert here.keys() - {"413"} == there.keys()
    for status, answer in there.items():
        assert references(here[status]) == references(answer), status


@every_service
def test_routes_say_what_they_do(service: str) -> None:
    """In a sentence: where a route has none, the framework writes the name of its function."""
    bare = [
        f"{method} {path}: {sentence!r}"
        for method, path, operation in operations(service)
        if not SENTENCE.fullmatch(sentence := route_sentence(operation))
    ]
    assert not bare


def references(document: Any) -> set[str]:
    """Every ``$ref`` below."""
    if isinstance(document, dict):
        own = {document["$ref"]} if isinstance(document.get("$ref"), str) else set()
        return own.union(*map(references, document.values()))
    return set().union(*map(references, document)) if isinstance(document, list) else set()


def unresolved(document: dict[str, Any]) -> set[str]:
    """References that lead nowhere in the document."""
    missing = set()
    for reference in references(document):
        place: Any = document
        for part in reference.removeprefix("#/").split("/"):
            place = place.get(part) if isinstance(place, dict) else None
        if place is None:
            missing.add(reference)
    return missing


@pytest.mark.parametrize("path", [path for path in makers() if path.suffix == ".json"], ids=str)
def test_references_within_documents_lead_somewhere(path: Path) -> None:
    document = json.loads(makers()[path]())
    assert references(document)
    assert not unresolved(document)


@pytest.mark.parametrize("path", [path for path in makers() if path.suffix == ".json"], ids=str)
def test_documents_describe_what_they_refer_to_and_nothing_else(path: Path) -> None:
    document = json.loads(makers()[path]())
    schemas: dict[str, Any] = document["components"]["schemas"]
    root = "#/components/schemas/"
    unused = {name for name in schemas if f"{root}{name}" not in references(document)}
    assert not unused
    anything = {name for name, schema in schemas.items() if schema.keys() <= ANYTHING}
    assert not anything, "an answer that could be anything is not described"
