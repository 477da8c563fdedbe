"""Values of parameters that have files within records, unions or lists, as bundles."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from sluice.cli.transfer.inputs import BundledEntry, describe_path_problem, file_object
from sluice.contracts.common.problems import Finding, Unprocessable
from sluice.contracts.templates.parameters import fits, names_dataset
from sluice.contracts.templates.plan import Parameter
from sluice.text.visible_text import shown_path


def build_bundles(value: Any, parameter: Parameter, subject: str) -> list[BundledEntry]:
    """Return the entries of a value with files of this machine, or none if it has no such file.

    A list with an entry for each item has several, any other value has one. Texts that only fit as
    files are paths.

    Args:
        value: The value.
        parameter: The parameter.
        subject: The parameter, for the error.

    Raises:
        Unprocessable: A file cannot be taken. The findings name all.
    """
    if names_dataset(value) or (parameter.entry_per_item and not isinstance(value, list)):
        return []
    is_path, all_files = not fits(value, parameter.type), list[Path]()
    items: list[tuple[Any, list[Path]]] = []
    for item in value if parameter.entry_per_item else [value]:
        files: list[Path] = []
        items.append((_with_objects(item, files, is_path=is_path), files))
        all_files += files
    problems = [
        Finding(message=f"{subject}: {shown_path(path)}: {problem}")
        for path in all_files
        if (problem := describe_path_problem(path))
    ]
    if problems:
        raise Unprocessable("files that parameters name cannot be taken", findings=problems)
    if not all_files:
        return []
    return [BundledEntry((files or all_files)[0], bundled) for bundled, files in items]


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
