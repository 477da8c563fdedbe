"""CWL values as plain JSON, and the files in them."""

import json
import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from sluice.storage import parse_location

#: The placeholder for a fraction in JSON. It is random, so no text of a user contains it.
_MARK = f"fraction-{secrets.token_hex(16)}"
#: Fields of a File or Directory that depend on its place, so that they are computed again.
_LOCATION_FIELDS = ("path", "dirname", "nameroot", "nameext", "checksum")


def source_path(value: Mapping[str, Any]) -> str:
    """Return the path of a File or Directory on this machine, or an empty text for a literal.

    Raises:
        ValueError: The file is not on this machine.
    """
    location = str(value.get("location") or value.get("path") or "")
    if location.startswith("file://"):
        return parse_location(location)
    if location.startswith("_:"):
        return ""
    if "://" in location:
        raise ValueError(f"{location} is not on this machine: copy it here, and give its path")
    return location


def check_file_exists(value: Mapping[str, Any], path: str) -> None:
    """Check that a File or Directory exists.

    Raises:
        FileNotFoundError: The File or Directory does not exist.
    """
    is_directory = value["class"] == "Directory"
    if not os.path.exists(path) or os.path.isdir(path) is not is_directory:
        raise FileNotFoundError(
            f"{path}: there is no such {'directory' if is_directory else 'file'}"
        )


@dataclass(frozen=True, slots=True)
class ExactNumber:
    """A fraction, as JSON text."""

    text: str


def to_json(value: Any) -> bytes:
    """Return JSON with fractions as they were written."""
    numbers: list[str] = []

    def mark(number: ExactNumber) -> str:
        numbers.append(number.text)
        return _MARK

    text = json.dumps(value, default=mark)
    return "".join(
        part + number
        for part, number in zip_longest(text.split(f'"{_MARK}"'), numbers, fillvalue="")
    ).encode()


def replace_file_places(value: Any, store: Callable[[Mapping[str, Any]], Mapping[str, str]]) -> Any:
    """Return ``value`` with its Files and Directories in the places that ``store`` returns.

    The fields that ``store`` returns for a File or Directory replace its fields. Literals stay.
    """
    match value:
        case list():
            return [replace_file_places(inner, store) for inner in value]
        case {"class": "File" | "Directory"}:
            return _replace_object(value, store)
        case dict():
            return {key: replace_file_places(inner, store) for key, inner in value.items()}
    return value


def _replace_object(
    value: dict[str, Any], store: Callable[[Mapping[str, Any]], Mapping[str, str]]
) -> dict[str, Any]:
    fields = {key: inner for key, inner in value.items() if key not in _LOCATION_FIELDS}
    source = source_path(value)
    if not source:
        fields.pop("location", None)
        return {
            key: replace_file_places(inner, store)
            if key in ("secondaryFiles", "listing")
            else inner
            for key, inner in fields.items()
        }
    for key in ("contents", "listing"):
        fields.pop(key, None)
    fields |= store(value)
    fields["basename"] = value.get("basename") or source.rstrip("/").rsplit("/", 1)[-1]
    if "secondaryFiles" in fields:
        fields["secondaryFiles"] = replace_file_places(fields["secondaryFiles"], store)
    return fields
