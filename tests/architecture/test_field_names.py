"""Requests and answers have one name for each thing in the OpenAPI documents of all services."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

DOCUMENTS = Path(__file__).parents[2] / "docs" / "reference" / "openapi"

#: Name that is refused → name to use instead.
REPLACEMENTS = {
    "template_name": "template",
    "task_id": "task_uid",
    "chain_id": "chain_uid",
    "dataset_id": "dataset_uid",
    "status": "state",
    "next": "after",
    "cursor": "after",
    "made_at": "created_at",
    "made_by": "created_by",
    "owner_group": "group",
    "disabled_since": "disabled_at",
}
#: RFC 9457 names a problem's HTTP status ``status``.
FOREIGN = {("Problem", "status")}
#: A field with an object's identifier ends in ``_uid``; without the ending it is an object or a
#: name.
OBJECTS = {"browser", "chain", "dataset", "link", "pilot", "task"}
#: Name of a query parameter that is refused → name to use instead.
QUERIES_INSTEAD = {
    "before": "after",
    "chain": "chain_uid",
    "chains": "chain_uid",
    "cursor": "after",
    "dataset": "dataset_uid",
    "next": "after",
    "pilot": "pilot_uid",
    "task": "task_uid",
}


def find_second_names(document: dict[str, Any]) -> Iterator[str]:
    for schema, described in document["components"]["schemas"].items():
        for name, value in described.get("properties", {}).items():
            if name in REPLACEMENTS and (schema, name) not in FOREIGN:
                yield f"{schema}.{name}: say {REPLACEMENTS[name]}"
            if name in OBJECTS and '"uuid"' in json.dumps(value):
                yield f"{schema}.{name}: say {name}_uid"
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            for parameter in operation.get("parameters", []):
                name = parameter["name"]
                if parameter["in"] == "query" and name in QUERIES_INSTEAD:
                    yield f"{method.upper()} {path}?{name}: say {QUERIES_INSTEAD[name]}"


@pytest.mark.parametrize("path", sorted(DOCUMENTS.glob("*.json")), ids=lambda path: path.stem)
def test_openapi_documents_have_one_name_for_each_thing(path: Path) -> None:
    assert list(find_second_names(json.loads(path.read_text()))) == []
