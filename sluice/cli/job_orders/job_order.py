"""A job order: a YAML or JSON file with the values of a workflow's inputs."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from sluice.cli.job_orders.file_literals import write_literal
from sluice.contracts.common.problems import Unprocessable
from sluice.text.numbers import read_number
from sluice.text.os_errors import reason_of
from sluice.text.visible_text import shown_path

#: Keys that job orders may have for runners. A workflow may have inputs of these names, too.
RUNNER_KEYS = frozenset({"cwl:tool", "cwlVersion", "id", "$namespaces", "$schemas"})
#: The key for requirements that are added to those of the workflow (CWL v1.2).
REQUIREMENTS_KEY = "cwl:requirements"


def read_job_order(path: Path) -> dict[str, Any]:
    """Return the values in a job order by key.

    Null means that no value is given (CWL), so a key with null is left out. Paths of files and
    directories become absolute. Relative paths start at the folder of the job order. Literals
    become files of this machine, and keep their content and listing. Other directories have no
    listing.

    Raises:
        Unprocessable: The file cannot be read, or is not a mapping.
    """
    try:
        order = _read(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        column = error.start - error.object.rfind(b"\n", 0, error.start)
        raise Unprocessable(
            f"{shown_path(path)}:{line}:{column}: the job order is not valid UTF-8:"
            " save it as UTF-8"
        ) from error
    except _UnreadableError as error:
        raise Unprocessable(f"{shown_path(path)}{error}") from error
    except (OSError, ValueError) as error:
        raise Unprocessable(
            f"{shown_path(path)}: the job order cannot be read: {reason_of(error)}"
        ) from error
    if not isinstance(order, dict):
        raise Unprocessable(
            f"{shown_path(path)}: this is not a job order: write the workflow's inputs with their"
            " values, as in `threshold: 3`"
        )
    folder = path.absolute().parent
    return {
        name: _with_absolute_paths(value, folder)
        for name, value in order.items()
        if value is not None
    }


class _UnreadableError(ValueError):
    """The place and the reason of a fault in a job order, without the file's path."""


def _read(text: str) -> Any:
    """Read a job order like cwltool: without timestamps, and with plain values as in YAML 1.2.

    Raises:
        _UnreadableError: It is neither JSON nor YAML.
    """
    try:
        return json.loads(text, parse_float=read_number)
    except ValueError as no_json:
        try:
            from ruamel.yaml.error import YAMLError  # noqa: PLC0415 - takes long to import
            from schema_salad.utils import yaml_no_ts  # noqa: PLC0415 - likewise
        except ImportError:
            raise _UnreadableError(
                f": the job order is not JSON ({reason_of(no_json)}), and YAML is not"
                " read where the command is installed alone (without sluice[services])"
            ) from no_json
        try:
            return json.loads(json.dumps(_with_numbers(yaml_no_ts().load(text))))
        except YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            place = "" if mark is None else f":{mark.line + 1}:{mark.column + 1}"
            why = getattr(error, "problem", None) or "it cannot be read"
            raise _UnreadableError(f"{place}: the job order is not YAML or JSON: {why}") from error


def _with_numbers(node: Any) -> Any:
    """Return YAML whose numbers with a point or exponent have the values that tools get."""
    from ruamel.yaml.representer import RoundTripRepresenter  # noqa: PLC0415 - slow to import
    from ruamel.yaml.scalarfloat import ScalarFloat  # noqa: PLC0415 - likewise

    match node:
        case ScalarFloat():
            return read_number(RoundTripRepresenter().represent_scalar_float(node).value)
        case dict():
            return {key: _with_numbers(inner) for key, inner in node.items()}
        case list():
            return [_with_numbers(item) for item in node]
    return node


def _with_absolute_paths(value: Any, folder: Path) -> Any:
    if isinstance(value, list):
        return [_with_absolute_paths(item, folder) for item in value]
    if not isinstance(value, dict):
        return value
    result = {key: _with_absolute_paths(inner, folder) for key, inner in value.items()}
    if value.get("class") in ("File", "Directory"):
        for key in ("path", "location"):
            location = result.get(key)
            if isinstance(location, str) and "://" not in location:
                # A location is an address, in which special characters are escaped.
                name = unquote(location) if key == "location" else location
                result[key] = str(folder / name)
        if {"path", "location"} & result.keys():
            result.pop("listing", None)
        elif {"contents", "listing"} & result.keys():
            result = write_literal(result)
    return result
