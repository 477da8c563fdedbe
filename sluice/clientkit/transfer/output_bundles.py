"""Unpacking of workflow outputs that are not plain files.

Files and directories go to a folder, and other values to a JSON file.
"""

import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sluice import cwl_values, storage
from sluice.contracts.chains.chains import ChainOutput
from sluice.contracts.data.datasets import File
from sluice.text.visible_text import quoted


@dataclass(frozen=True, slots=True)
class UnpackedFile:
    """A file in the output folder. ``file`` is the catalogue's file that contained it."""

    path: Path
    file: File


@dataclass(frozen=True, slots=True)
class _Entry:
    file: File
    value: Any

    @property
    def names(self) -> list[str]:
        return [entry["basename"] for group in _groups(self.value) for entry in group]


def unpack_output(
    bundles: Sequence[tuple[File, Path]], output: ChainOutput, folder: Path
) -> list[UnpackedFile]:
    """Unpack an output into ``<folder>/<output>/``.

    If a value is neither a file nor a directory, the values are also written to
    ``<folder>/<output>.json``. If two files would have the same name, each entry has its
    own folder, called by its number. Files of an earlier run with the same names are replaced.

    Args:
        bundles: The bundles with their local copies.
        output: The workflow output.
        folder: The folder for all results.

    Raises:
        BundleError: A file is not a valid bundle.
        OSError: A file cannot be written.
    """
    temporary = Path(tempfile.mkdtemp(dir=folder))
    try:
        entries = [
            _unpack_entry(file, path, temporary / str(number))
            for number, (file, path) in enumerate(bundles)
        ]
        names = Counter(name for entry in entries for name in entry.names)
        is_clear = all(count == 1 for count in names.values())
        unpacked_files: list[UnpackedFile] = []
        for entry in entries:
            placer = _Placer(
                folder / output.name if is_clear else folder / output.name / f"{entry.file.seq:06d}"
            )
            for group in _groups(entry.value):
                placer.place(group, folder)
            unpacked_files += [UnpackedFile(path, entry.file) for path in placer.written_paths]
        if any(not _is_object(entry.value) for entry in entries):
            path = _write_json([entry.value for entry in entries], output, folder)
            unpacked_files.append(UnpackedFile(path, entries[0].file))
        return unpacked_files
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _unpack_entry(file: File, bundle: Path, place: Path) -> _Entry:
    place.mkdir(parents=True)
    value = cwl_values.unpack(bundle, place)
    for number, group in enumerate(_groups(value)):
        for entry in group:
            entry["basename"] = _safe_name(
                str(entry.get("basename") or f"{entry['class'].lower()}-{number}")
            )
    return _Entry(file, value)


def _safe_name(name: str) -> str:
    """Return a name that cannot lead out of its folder.

    Raises:
        BundleError: The name is not that of a file.
    """
    if name in {"", ".", ".."} or "/" in name or "\0" in name:
        raise cwl_values.BundleError(f"{quoted(name)} is not a file name")
    return name


def _is_object(value: Any) -> bool:
    return isinstance(value, dict) and value.get("class") in ("File", "Directory")


def _groups(value: Any) -> Iterator[list[dict[str, Any]]]:
    """Yield each file or directory in a value, together with those that belong beside it."""
    if _is_object(value):
        yield [
            value,
            *(
                entry
                for other in value.get("secondaryFiles", ())
                for group in _groups(other)
                for entry in group
            ),
        ]
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _groups(inner)


class _Placer:
    """The move of one entry's files into its folder."""

    def __init__(self, base: Path) -> None:
        self.written_paths: list[Path] = []
        self._base = base
        self._used_names: set[str] = set()
        self._number = 0

    def place(self, group: Sequence[dict[str, Any]], folder: Path) -> None:
        """Move a group of files, and make their paths relative to ``folder``."""
        self._number += 1
        _make_names_unique(group)
        names = {entry["basename"] for entry in group}
        if names & self._used_names:
            base = self._base / cwl_values.find_free_name(str(self._number), self._used_names)
        else:
            base = self._base
            self._used_names |= names
        base.mkdir(parents=True, exist_ok=True)
        for entry in group:
            path = base / entry["basename"]
            _write_value(entry, path)
            self.written_paths += (
                sorted(file for file in path.rglob("*") if file.is_file())
                if path.is_dir()
                else [path]
            )
            for key in [
                key
                for key in entry
                if key not in ("class", "basename", "secondaryFiles", "size", "format")
            ]:
                del entry[key]
            entry["path"] = path.relative_to(folder).as_posix()


def _write_value(value: dict[str, Any], path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    if "location" in value:
        os.replace(storage.parse_location(value["location"]), path)
    elif value["class"] == "File":
        path.write_text(str(value.get("contents", "")))
    else:
        path.mkdir()
        listing = value.get("listing", ())
        for entry in listing:
            entry["basename"] = _safe_name(str(entry.get("basename") or "file"))
        _make_names_unique(listing)
        for entry in listing:
            _write_value(entry, path / entry["basename"])


def _make_names_unique(group: Sequence[dict[str, Any]]) -> None:
    """Give the entries of one folder different names."""
    used_names: set[str] = set()
    for entry in group:
        entry["basename"] = cwl_values.find_free_name(entry["basename"], used_names)


def _write_json(values: list[Any], output: ChainOutput, folder: Path) -> Path:
    """Write the values of an output as a list, or as a single value if CWL says so.

    The paths of files are relative to ``folder``.
    """
    path = folder / f"{output.name}.json"
    value = values[0] if output.single and len(values) == 1 else values
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n")
    return path
