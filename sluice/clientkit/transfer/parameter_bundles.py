"""Values of parameters that have files within records, unions or lists, as bundles."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sluice.clientkit.local_paths import local_path_of
from sluice.clientkit.transfer.inputs import (
    NAMELESS,
    BundledEntry,
    add_secondary_files,
    describe_path_problem,
    file_object,
)
from sluice.contracts.common.problems import Finding, Unprocessable
from sluice.contracts.templates.parameters import fits, names_dataset
from sluice.contracts.templates.plan import Parameter, SecondaryFile
from sluice.contracts.templates.secondary_files import record_fields
from sluice.text.visible_text import shown_path


def build_bundles(value: Any, parameter: Parameter, subject: str) -> list[BundledEntry] | None:
    """Return the entries of a value with files of this machine, or None if it has no such file.

    A list with an entry for each item has as many as it has items, also without files. Any other
    value has one. Texts that only fit as files are paths. Files get the secondary files for which
    the parameter has patterns.

    Args:
        value: The value.
        parameter: The parameter.
        subject: The parameter, for the error.

    Raises:
        Unprocessable: A file cannot be taken. The findings name all.
    """
    if names_dataset(value) or (parameter.entry_per_item and not isinstance(value, list)):
        return None
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
    if not all_files and (is_path or not parameter.entry_per_item):
        return None
    kind = parameter.type["items"] if parameter.entry_per_item else parameter.type
    patterns = [] if parameter.entries is None else parameter.entries.secondary_files
    try:
        return [
            BundledEntry(
                (files or all_files or [NAMELESS])[0], _with_secondary_files(item, kind, patterns)
            )
            for item, files in items
        ]
    except Unprocessable as refusal:
        raise Unprocessable(f"{subject}: {refusal.detail}") from refusal


def _with_secondary_files(value: Any, kind: Any, patterns: Sequence[SecondaryFile]) -> Any:
    """Return a value whose files have the secondary files that are there.

    Args:
        value: The value, with an absolute location for each file.
        kind: Its CWL type, in which fields of records may have their own patterns.
        patterns: The patterns of the port or field that has the value.

    Raises:
        Unprocessable: A required secondary file is missing.
    """
    match value:
        case {"class": "File"}:
            return add_secondary_files(value, patterns)
        case list():
            items = _part_type(value, kind).get("items", "Any")
            return [_with_secondary_files(item, items, patterns) for item in value]
        case dict():
            fields = record_fields(_part_type(value, kind))
            return {
                name: _with_secondary_files(part, *fields.get(name, ("Any", ())))
                for name, part in value.items()
            }
    return value


def _part_type(value: Any, kind: Any) -> Mapping[str, Any]:
    """Return the alternative of a type that describes the parts of a list or record."""
    alternatives = kind if isinstance(kind, list) else [kind]
    return next(
        (
            each
            for each in alternatives
            if isinstance(each, Mapping) and {"items", "fields"} & each.keys() and fits(value, each)
        ),
        {},
    )


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
