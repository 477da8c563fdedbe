"""Files of the production deployment, changes of them, and the schema of Compose files."""

import json
from importlib import resources
from pathlib import Path
from typing import Any

from jsonschema.validators import validator_for

FILE, SERVICES, PILOT = (
    "docker-compose.yml",
    "deploy/environment/services.env",
    "deploy/environment/pilot.env",
)


def list_schema_errors(data: Any) -> list[str]:
    """Return the errors by the schema that the Compose specification publishes."""
    text = (
        resources.files("check_jsonschema")
        .joinpath("builtin_schemas/vendor/compose-spec.json")
        .read_text(encoding="utf-8")
    )
    schema = json.loads(text)
    return [error.message for error in validator_for(schema)(schema).iter_errors(data)]


def replace_text(path: Path, before: str, after: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert before in text, f"{before!r} is not in {path.name}"
    path.write_text(text.replace(before, after, 1), encoding="utf-8")
