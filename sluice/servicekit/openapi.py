"""FastAPI documents error answers as plain JSON, and a 422 of its own form; here every error is a problem (RFC 9457)."""

from typing import Any

from fastapi import FastAPI

PROBLEM_JSON = "application/problem+json"
_PROBLEM = {"$ref": "#/components/schemas/Problem"}


def document_problems(app: FastAPI) -> None:
    """Makes the application's OpenAPI document say what it answers."""
    made = app.openapi

    def openapi() -> dict[str, Any]:
        document = made()
        for operations in document["paths"].values():
            for operation in operations.values():
                for answer in operation["responses"].values():
                    _mend(answer.get("content", {}))
        return document

    app.openapi = openapi  # type: ignore[method-assign] # FastAPI's own way to another document


def _mend(content: dict[str, Any]) -> None:
    if content.get("application/json", {}).get("schema") == _PROBLEM:
        content[PROBLEM_JSON] = content.pop("application/json")
