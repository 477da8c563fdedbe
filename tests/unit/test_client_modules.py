"""Methods of clients, generated from OpenAPI documents."""

from collections.abc import Mapping
from typing import Any

import pytest

from scripts.docs.client_modules import method_text
from scripts.docs.client_operations import list_operations

UID = {"name": "uid", "in": "path", "schema": {"type": "string", "format": "uuid"}}
NAME = {"name": "name", "in": "path", "schema": {"type": "string"}}
LIMIT = {
    "name": "limit",
    "in": "query",
    "schema": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
}
SCHEMAS = {
    "Dataset": {},
    "FilePage": {"properties": {"files": {"type": "array", "items": {"type": "string"}}}},
    "CloseDataset": {"properties": {"files": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}},
}


def refer(name: str, **other: Any) -> dict[str, Any]:
    return {
        "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}},
        **other,
    }


def generate(method: str, path: str, **operation: Any) -> str:
    """Return the method for an operation ``do_it`` that returns a data set."""
    declared: Mapping[str, Any] = {
        "operationId": "do_it",
        "summary": "Do it.",
        "responses": {"200": refer("Dataset")},
        **operation,
    }
    document = {"paths": {path: {method: declared}}, "components": {"schemas": SCHEMAS}}
    [text] = map(method_text, list_operations(document))
    return text


def test_parameters_become_arguments_and_errors_are_documented() -> None:
    text = generate(
        "get",
        "/api/v1/datasets/{uid}",
        parameters=[UID, LIMIT],
        responses={"200": refer("Dataset"), "404": {}},
    )
    assert "async def do_it(self, uid: UUID, *, limit: int | None = None) -> Dataset:" in text
    assert "It can raise ``NotFound``." in text
    assert (
        'return await self.call("GET", f"{API}/datasets/{uid}", params={"limit": limit},'
        " answer=Dataset)"
    ) in text


def test_names_in_paths_are_escaped() -> None:
    text = generate("get", "/api/v1/storages/{name}/marks", parameters=[NAME])
    assert "build_path('storages', name, 'marks')" in text


@pytest.mark.parametrize(
    ("required", "argument"), [(True, "body: CloseDataset"), (False, "body: CloseDataset | None")]
)
def test_body_is_an_argument(required: bool, argument: str) -> None:
    text = generate("post", "/api/v1/x", requestBody=refer("CloseDataset", required=required))
    assert f"def do_it(self, {argument}" in text
    assert "body=body" in text


def test_fields_of_a_flat_body_are_arguments() -> None:
    text = generate(
        "post",
        "/api/v1/x",
        requestBody=refer("CloseDataset", required=True),
        **{"x-client": {"flat_body": True, "seconds": 60, "retry": False}},
    )
    assert "def do_it(self, *, files: int | None = None) -> Dataset:" in text
    assert "retry=False, seconds=60, body=CloseDataset(files=files)" in text


def test_single_field_of_a_response_is_returned() -> None:
    text = generate(
        "get",
        "/api/v1/x",
        responses={"200": refer("FilePage")},
        **{"x-client": {"returns": "files"}},
    )
    assert "-> list[str]:" in text
    assert text.endswith("answer=FilePage)).files\n")


def test_call_that_creates_also_returns_whether_the_object_is_new() -> None:
    text = generate(
        "post",
        "/api/v1/x",
        requestBody=refer("CloseDataset", required=True),
        **{"x-client": {"returns_created": True}},
    )
    assert "-> tuple[Dataset, bool]:" in text
    assert "await self.create(" in text


def test_generated_method_returns_a_list_or_nothing() -> None:
    items = {"type": "array", "items": {"$ref": "#/components/schemas/Dataset"}}
    listed = generate(
        "get",
        "/api/v1/x",
        responses={"200": {"content": {"application/json": {"schema": items}}}},
    )
    assert "-> list[Dataset]:" in listed
    assert "answer=RootModel[list[Dataset]])).root" in listed
    assert "-> None:" in generate("delete", "/api/v1/x", responses={"204": {}})


def test_bytes_are_sent_as_they_are() -> None:
    content: dict[str, Any] = {"content": {"application/octet-stream": {"schema": {}}}}
    text = generate("put", "/api/v1/x", parameters=[LIMIT], requestBody=content)
    assert "data: bytes" in text
    assert 'await self.send(f"{API}/x", data, params={"limit": limit})' in text


def test_schema_without_contract_is_refused() -> None:
    with pytest.raises(ValueError, match=r"Unheard is no class of sluice\.contracts"):
        generate("get", "/api/v1/x", responses={"200": refer("Unheard")})


def test_long_summary_ends_after_its_first_sentence() -> None:
    text = generate("get", "/api/v1/x", summary="Do it. Then read.", description="And eat.")
    assert '"""Do it.\n\n        Then read.\n\n        And eat.\n        """' in text
