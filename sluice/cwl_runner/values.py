"""CWL values as plain JSON, and the files in them."""

import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from sluice.storage import path_of_location

#: Placeholder for a fraction in JSON; it is random, so no text of a user contains it.
_MARK = f"fraction-{secrets.token_hex(16)}"
#: Fields of a File or Directory that depend on its place, so that they are computed again.
_OF_ITS_PLACE = ("path", "dirname", "nameroot", "nameext", "checksum")


def source_path(value: Mapping[str, Any]) -> str:
    """Return the path of a File or Directory on this machine, or an empty text for a literal.

    Raises:
        ValueError: The file is not on this machine.
    """
    location = str(value.get("location") or value.get("path") or "")
    if location.startswith("file://"):
        return path_of_location(location)
    if location.startswith("_:"):
        return ""
    if "://" in location:
        raise ValueError(f"{location} is not on this machine: copy it here, and give its path")
    return location


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


def with_files_placed(value: Any, bring: Callable[[Mapping[str, Any]], Mapping[str, str]]) -> Any:
    """Return ``value`` with its Files and Directories in the places that ``bring`` returns.

    The fields that ``bring`` returns for a File or Directory replace its fields. Literals stay.
    """
    match value:
        case list():
            return [with_files_placed(inner, bring) for inner in value]
        case {"class": "File" | "Directory"}:
            return _brought_object(value, bring)
        case dict():
            return {key: with_files_placed(inner, bring) for key, inner in value.items()}
    return value


def _brought_object(
    value: dict[str, Any], bring: Callable[[Mapping[str, Any]], Mapping[str, str]]
) -> dict[str, Any]:
    kept = {key: inner for key, inner in value.items() if key not in _OF_ITS_PLACE}
    source = source_path(value)
    if not source:
        kept.pop("location", None)
        return {
            key: with_files_placed(inner, bring) if key in ("secondaryFiles", "listing") else inner
            for key, inner in kept.items()
        }
    for key in ("contents", "listing"):
        kept.pop(key, None)
    kept |= bring(value)
    kept["basename"] = value.get("basename") or source.rstrip("/").rsplit("/", 1)[-1]
    if "secondaryFiles" in kept:
        kept["secondaryFiles"] = with_files_placed(kept["secondaryFiles"], bring)
    return kept
