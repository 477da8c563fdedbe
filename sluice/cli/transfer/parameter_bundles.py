"""Values of parameters that have files within records, unions or lists, as bundles."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from sluice.cli.transfer.inputs import BundledEntry, describe_path_problem, file_object
from sluice.contracts.common.problems import Finding, Unprocessable
from sluice.contracts.templates.parameters import fits, names_dataset
from sluice.text.visible_text import shown_path


def build_bundle(value: Any, kind: Any, subject: str) -> BundledEntry | None:
    """Return the entry of a value with files of this machine, or None if it has none.

    Texts that only fit as files are paths.

    Args:
        value: The value.
        kind: The CWL type.
        subject: The parameter, for the error.

    Raises:
        Unprocessable: A file cannot be taken. The findings name all.
    """
    if names_dataset(value):
        return None
    files: list[Path] = []
    bundled = _with_objects(value, files, is_path=not fits(value, kind))
    if not files:
        return None
    problems = [
        Finding(message=f"{subject}: {shown_path(path)}: {problem}")
        for path in files
        if (problem := describe_path_problem(path))
    ]
    if problems:
        raise Unprocessable("files that parameters name cannot be taken", findings=problems)
    return BundledEntry(files[0], bundled)


def _with_objects(value: Any, files: list[Path], *, is_path: bool) -> Any:
    """Return the value with an absolute location for each file, and collect the paths."""
    match value:
        case str() if is_path and value:
            path = Path(value)
            files.append(path)
            return file_object(path)
        case list():
            return [_with_objects(item, files, is_path=is_path) for item in value]
        case {"class": "File" | "Directory"}:
            local = local_path_of(value)
            fields = {key: field for key, field in value.items() if key not in ("path", "location")}
            if local is None:
                place = {}
            else:
                files.append(local)
                place = file_object(local) | {"class": value["class"]}
            inner = {
                key: _with_objects(fields[key], files, is_path=False)
                for key in ("secondaryFiles", "listing")
                if key in fields
            }
            return place | fields | inner
        case dict():
            return {key: _with_objects(inner, files, is_path=False) for key, inner in value.items()}
    return value


def local_path_of(value: Mapping[str, Any]) -> Path | None:
    """Return the path on this machine that a File or Directory object names, or None."""
    location = str(value.get("path") or value.get("location") or "")
    if location.startswith("file://"):
        location = unquote(location.removeprefix("file://"))
    return Path(location) if location else None
