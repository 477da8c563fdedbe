"""A job order as other runners take it: a file, YAML or JSON, with the values of a workflow's
inputs."""

import json
from pathlib import Path
from typing import Any

from sluice.contracts.problems import Unprocessable
from sluice.os_errors import reason_of

#: Keys that a job order may have for runners. A workflow may have inputs of these names, too.
RUNNER_KEYS = frozenset({"cwl:tool", "cwlVersion", "id", "$namespaces", "$schemas"})
#: A key for runners that changes what a run gives, and that is not applied here.
REQUIREMENTS_KEY = "cwl:requirements"


def read_job_order(path: Path) -> dict[str, Any]:
    """Return the values in a job order by key.

    Null means that no value is given (CWL), so a key with null is left out. Paths of files and
    directories become absolute; relative ones start at the folder of the job order.

    Raises:
        Unprocessable: The file cannot be read, or is no mapping.
    """
    try:
        order = _read(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Unprocessable(f"{path} cannot be read as YAML or JSON: {reason_of(error)}") from error
    if not isinstance(order, dict):
        raise Unprocessable(
            f"{path} is no job order: it must be a mapping of the workflow's inputs to their values"
        )
    folder = path.absolute().parent
    return {name: _placed(value, folder) for name, value in order.items() if value is not None}


def _read(text: str) -> Any:
    """As cwltool does, without times and with YAML 1.2's plain values. Raises ``ValueError``."""
    try:
        return json.loads(text)
    except ValueError as no_json:
        try:
            from ruamel.yaml.error import YAMLError  # noqa: PLC0415 - takes long to import
            from schema_salad.utils import yaml_no_ts  # noqa: PLC0415 - likewise
        except ImportError:
            raise ValueError(
                f"it is no JSON ({no_json}), and YAML is not read where the command is installed"
                " alone (without sluice[services])"
            ) from no_json
        try:
            return json.loads(json.dumps(yaml_no_ts().load(text)))
        except YAMLError as error:
            raise ValueError(str(error)) from error


def _placed(value: Any, folder: Path) -> Any:
    if isinstance(value, list):
        return [_placed(item, folder) for item in value]
    if not isinstance(value, dict):
        return value
    placed = {key: _placed(inner, folder) for key, inner in value.items()}
    if value.get("class") in ("File", "Directory"):
        for key in ("path", "location"):
            where = placed.get(key)
            if isinstance(where, str) and "://" not in where:
                placed[key] = str(folder / where)
    return placed
