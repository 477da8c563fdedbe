"""Tests that all services answer as their OpenAPI documents say, to valid and invalid requests of
each caller."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
import requests
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from schemathesis import Case, Response
from schemathesis.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.core.failures import FailureGroup
from schemathesis.generation import GenerationMode

from sluice.contracts.access.services import SERVICES
from tests.attacks.known_values import KnownValues, create_known_objects
from tests.attacks.requests.documented import list_operations
from tests.attacks.whole_system import CALLERS, WholeSystem, open_whole_system
from tests.draws import count_examples
from tests.servers.postgres import PostgresServer


def _require_expected_status(ctx: Any, response: Response, case: Case[Any]) -> None:
    """Require that there is no server error other than unavailable."""
    assert response.status_code < 500 or b"urn:sluice:problem:not-available" in response.content


CHECKS = [
    _require_expected_status,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
OPERATIONS = {
    f"{service}: {operation.label}": (service, operation)
    for service in SERVICES
    for operation in list_operations(service)
}
#: Three valid requests for each invalid request.
MODES = [*[GenerationMode.POSITIVE] * 3, GenerationMode.NEGATIVE]
_PART = re.compile(r"([^/]+)/\{(\w+)\}")


@dataclass
class DocumentedSystem:
    """The system and its objects.

    ``refused_operations`` has the operations that a caller may not use.
    """

    system: WholeSystem
    known_values: KnownValues
    refused_operations: set[tuple[str, str]] = field(default_factory=set)


@pytest.fixture(scope="module")
def documented_system(
    postgres_server: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[DocumentedSystem]:
    with open_whole_system(postgres_server, tmp_path_factory.mktemp("whole") / "home") as system:
        yield DocumentedSystem(system, create_known_objects(system))


def _list_operation_parameters() -> list[Any]:
    """Return the operations, divided between two processes."""
    return [
        pytest.param(name, marks=pytest.mark.xdist_group(f"documents-{number % 2}"))
        for number, name in enumerate(OPERATIONS)
    ]


@pytest.mark.parametrize("operation", _list_operation_parameters())
@settings(max_examples=count_examples(2), suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_answers_conform_to_the_openapi_document(
    documented_system: DocumentedSystem, operation: str, data: st.DataObject
) -> None:
    service, declared_operation = OPERATIONS[operation]
    case = data.draw(
        declared_operation.as_strategy(generation_mode=data.draw(st.sampled_from(MODES)))
    )
    if data.draw(st.integers(0, 3)):
        _insert_known_names(case, documented_system.known_values, data)
    request = _build_request(case, service)
    for caller in CALLERS:
        if (operation, caller) not in documented_system.refused_operations:
            answer = documented_system.system.send_request(caller, service, request)
            assert _describe_deviation(case, answer) == ""
            if answer.status_code in {401, 403}:
                documented_system.refused_operations.add((operation, caller))


def _describe_deviation(case: Case[Any], answer: httpx.Response) -> str:
    """Return how an answer deviates from the document, or an empty text if it conforms."""
    try:
        case.validate_response(answer, checks=CHECKS)
    except FailureGroup as deviation:
        return str(deviation)
    return ""


def _insert_known_names(case: Case[Any], known_values: KnownValues, data: st.DataObject) -> None:
    """Put names of existing objects into the request. The drawn objects are not changed, as later
    draws may return them again."""
    parts = dict(case.path_parameters or {})
    for place, name in _PART.findall(case.path):
        if place in known_values and name in parts:
            parts[name] = data.draw(st.sampled_from(known_values[place]))
    case.path_parameters = parts
    if isinstance(case.body, dict):
        case.body = _replace_known_names(case.body, known_values, data)
    if isinstance(case.query, dict):
        case.query = _replace_known_names(case.query, known_values, data)


def _replace_known_names(
    part: dict[str, Any], known_values: KnownValues, data: st.DataObject
) -> dict[str, Any]:
    names = sorted(part.keys() & known_values.keys())
    return {**part, **{name: data.draw(st.sampled_from(known_values[name])) for name in names}}


def _build_request(case: Case[Any], service: str) -> httpx.Request:
    sent = case.as_transport_kwargs(base_url=f"http://{service}")
    if isinstance(body := sent.get("json"), dict) and isinstance(body.get("wait"), int | float):
        body["wait"] = min(body["wait"], 0)  # The test does not wait for jobs.
    parts = ("method", "url", "headers", "params", "cookies", "json", "data", "files")
    prepared_request = requests.Request(
        **{part: sent[part] for part in parts if part in sent}
    ).prepare()
    headers = {name: str(value) for name, value in prepared_request.headers.items()}
    assert isinstance(prepared_request.body, bytes | str | None)
    try:
        return httpx.Request(
            str(prepared_request.method),
            str(prepared_request.url),
            headers=headers,
            content=prepared_request.body,
        )
    except httpx.InvalidURL:  # The URL is too long for the client.
        reject()
