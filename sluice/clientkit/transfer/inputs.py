"""Entries of a data set, from paths on the command line.

An entry is a plain file, or a bundle of a directory or of a file with its secondary files.
"""

import os
import stat
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from sluice.clientkit.local_paths import local_path_of, similar_name
from sluice.clientkit.output import err
from sluice.clientkit.transfer.entry_order import EntryOrder
from sluice.clientkit.transfer.folders import (
    format_paths,
    list_folder,
    print_hidden,
)
from sluice.contracts.common.base import FileName
from sluice.contracts.common.naming import MAX_NAME_BYTES, name_bytes
from sluice.contracts.common.problems import Finding, Unprocessable
from sluice.contracts.templates.plan import DataEntries, SecondaryFile
from sluice.contracts.templates.secondary_files import secondary_name
from sluice.text.os_errors import reason_of
from sluice.text.visible_text import quoted, shown_path

_FILE_NAME: TypeAdapter[str] = TypeAdapter(FileName)


#: The source of a value without files.
NAMELESS = Path("value")


@dataclass(frozen=True, slots=True)
class BundledEntry:
    """A CWL value that is uploaded as one file.

    ``source`` is the file or folder that names it, or `NAMELESS`.
    """

    source: Path
    value: Any

    @property
    def name(self) -> str:
        """Return the file name of the bundle."""
        return f"{self.source.name}.tar"


InputEntry = Path | BundledEntry


def _sort_naturally(entries: list[InputEntry]) -> list[InputEntry]:
    from natsort import natsorted  # noqa: PLC0415 - slow, and few commands sort

    return natsorted(entries, key=lambda entry: source_path(entry).name)


def source_path(entry: InputEntry) -> Path:
    """Return the file or folder that an entry stands for."""
    return entry.source if isinstance(entry, BundledEntry) else entry


def _sort_entries(entries: list[InputEntry], order: EntryOrder) -> list[InputEntry]:
    match order:
        case EntryOrder.GIVEN:
            return entries
        case EntryOrder.NAME:
            return sorted(entries, key=lambda entry: source_path(entry).name)
        case EntryOrder.NATURAL:
            return _sort_naturally(entries)
        case EntryOrder.MTIME:
            return sorted(
                entries,
                key=lambda entry: (source_path(entry).stat().st_mtime_ns, source_path(entry).name),
            )


def require_paths(paths: Sequence[Path], *, outside_links: Sequence[Path] = ()) -> None:
    """Check that paths are files or folders that can be read.

    Args:
        paths: The paths.
        outside_links: The links that lead out of the folders of the paths.

    Raises:
        Unprocessable: A path is something else, or a link leads out of its folder. The findings
            name all of them.
    """
    leads_out = "a link that leads out of its folder; name the file that it leads to"
    _refuse(
        [
            *((path, leads_out) for path in outside_links),
            *((path, why) for path in paths if (why := describe_path_problem(path))),
        ]
    )


def describe_path_problem(path: Path) -> str:
    """Return why a path cannot be taken. The text is empty for readable files and folders."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        return _describe_missing_path(path, error)
    if stat.S_ISDIR(mode):
        return (
            ""
            if os.access(path, os.R_OK | os.X_OK)
            else "the folder cannot be read: permission denied"
        )
    if not stat.S_ISREG(mode):
        return "not a regular file, but a device, a pipe or a socket"
    if not os.access(path, os.R_OK):
        return "cannot be read: permission denied"
    return describe_name_problem(path.name)


def _describe_missing_path(path: Path, error: OSError) -> str:
    if not isinstance(error, FileNotFoundError):
        return f"cannot be read: {reason_of(error)}"
    if path.is_symlink():
        return f"a link to {shown_path(path.readlink())}, which does not exist; remove the link"
    return f"no such file{similar_name(path)}"


def describe_name_problem(name: str) -> str:
    """Return why a data set cannot have a file of this name. The text is empty if it can."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return "the file name is not valid UTF-8; rename the file"
    if (size := name_bytes(name)) > MAX_NAME_BYTES:
        return (
            f"the file name is too long ({size} bytes, at most {MAX_NAME_BYTES}); rename the file"
        )
    try:
        _FILE_NAME.validate_python(name)
    except ValidationError:
        return "the file name has a tab, a line break or another control character; rename the file"
    return ""


def _refuse(problems: Sequence[tuple[Path, str]]) -> None:
    """Refuse paths, each with the reason. Unusual characters in the paths are made visible.

    Raises:
        Unprocessable: There are such paths.
    """
    if not problems:
        return
    if len(problems) == 1:
        raise Unprocessable(f"{shown_path(problems[0][0])}: {problems[0][1]}")
    findings = [Finding(message=f"{shown_path(path)}: {why}") for path, why in problems]
    raise Unprocessable(f"{len(problems)} of the files cannot be taken", findings=findings)


def list_files(paths: Sequence[Path], *, recursive: bool = False) -> list[Path]:
    """Return the named files, with each folder replaced by its files in order of name.

    It prints which subfolders and hidden files are left out.

    Args:
        paths: The files and folders.
        recursive: Whether to take the files of subfolders, too.

    Raises:
        Unprocessable: A path cannot be taken, or there is no file.
    """
    require_paths(paths)
    files: list[Path] = []
    hidden: list[Path] = []
    outside_links: list[Path] = []
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        contents = list_folder(path, recursive=recursive)
        outside_links += contents.outside_links
        _print_skipped_folders(contents.skipped_folders, recursive=recursive)
        files += contents.files
        hidden += contents.hidden_files
    file_paths = {path.absolute() for path in files}
    print_hidden([path for path in hidden if path.absolute() not in file_paths])
    require_paths(files, outside_links=outside_links)
    if not files:
        raise Unprocessable(
            "no input: there is no file in " + ", ".join(shown_path(path) for path in paths)
        )
    return files


def _print_skipped_folders(folders: Sequence[Path], *, recursive: bool) -> None:
    """Print which subfolders are left out, and why."""
    if folders:
        count = f"{len(folders)} subfolders are" if len(folders) != 1 else "1 subfolder is"
        why = "links are not followed" if recursive else "--recursive takes their files, too"
        err.print(f"{count} left out: {format_paths(folders)} ({why})")


def _check_folders(folders: Sequence[Path]) -> None:
    """Check folders that are packed completely, and print which hidden files are left out.

    Raises:
        Unprocessable: A link leads out of its folder.
    """
    hidden: list[Path] = []
    for folder in folders:
        contents = list_folder(folder, recursive=True)
        require_paths((), outside_links=contents.outside_links)
        hidden += contents.hidden_files
    print_hidden(hidden)


def list_entries(
    paths: Sequence[Path],
    data_entries: DataEntries,
    *,
    recursive: bool = False,
    order: EntryOrder = EntryOrder.GIVEN,
) -> list[InputEntry]:
    """Return the entries of the data set that a template takes.

    Args:
        paths: The files and folders.
        data_entries: The kind of entries that the template takes.
        recursive: Whether to take the files of subfolders, too.
        order: The order of the entries.

    Raises:
        Unprocessable: The paths cannot become such entries.
    """
    require_paths(paths)
    return _sort_entries(_build_entries(paths, data_entries, recursive=recursive), order)


def _build_entries(
    paths: Sequence[Path], data_entries: DataEntries, *, recursive: bool
) -> list[InputEntry]:
    if data_entries.type == "Directory":
        not_folders = [str(path) for path in paths if not path.is_dir()]
        if not_folders:
            raise Unprocessable(
                "the template takes directories, and these are not: " + ", ".join(not_folders)
            )
        _check_folders(paths)
        return [BundledEntry(path.resolve(), file_object(path)) for path in paths]
    files = list_files(paths, recursive=recursive)
    return (
        _with_secondary(files, data_entries.secondary_files)
        if data_entries.secondary_files
        else list(files)
    )


def total_bytes(entries: Sequence[InputEntry]) -> int | None:
    """Return the size of all entries, or None if one of them has yet to be packed."""
    files = [entry for entry in entries if isinstance(entry, Path)]
    return sum(file.stat().st_size for file in files) if len(files) == len(entries) else None


def _with_secondary(files: Sequence[Path], patterns: Sequence[SecondaryFile]) -> list[InputEntry]:
    """Return the files as entries with their secondary files, which are not separate entries.

    Raises:
        Unprocessable: A required secondary file is missing, or no file is left to be an entry.
    """
    secondary_by_file = {file: _secondary_paths(file, patterns) for file in files}
    secondary = Counter(
        other.resolve() for others in secondary_by_file.values() for other, _ in others
    )
    primary = [file for file in files if file.resolve() not in secondary]
    missing = [
        f"{file.name}: {other.name}"
        for file in primary
        for other, needed in secondary_by_file[file]
        if needed and not other.exists()
    ]
    if missing:
        raise Unprocessable(
            f"files that must be beside others (secondaryFiles) are missing: {', '.join(missing)}"
        )
    _check_folders(
        [other for file in primary for other, _ in secondary_by_file[file] if other.is_dir()]
    )
    if not primary:
        raise Unprocessable(
            "each of the files is a secondary file of another: none is left to be an entry"
        )
    return [
        BundledEntry(
            file,
            {
                **file_object(file),
                "secondaryFiles": [
                    file_object(other) for other, _ in secondary_by_file[file] if other.exists()
                ],
            },
        )
        for file in primary
    ]


def add_named_secondary_files(
    entries: Sequence[InputEntry], named_files: Mapping[Path, Sequence["NamedFile"]]
) -> list[InputEntry]:
    """Return the entries with the named secondary files that the patterns did not find.

    Args:
        entries: The entries.
        named_files: The secondary files by the path of the file that they belong to.

    Raises:
        Unprocessable: A named file cannot be taken.
    """
    paths = [named.path for files in named_files.values() for named in files]
    require_paths(paths)
    _check_folders([path for path in paths if path.is_dir()])
    files_by_path = {path.absolute(): files for path, files in named_files.items()}
    return [
        _add_secondary_files(entry, files_by_path.get(source_path(entry).absolute(), ()))
        for entry in entries
    ]


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file or folder of this machine, and the name that it has for tools."""

    path: Path
    name: str


def _add_secondary_files(entry: InputEntry, named_files: Sequence[NamedFile]) -> InputEntry:
    if not isinstance(entry, BundledEntry):
        entry = BundledEntry(entry, file_object(entry))
    secondary = list(entry.value.get("secondaryFiles", ()))
    names = {other["basename"] for other in secondary}
    secondary += [
        {**file_object(named.path), "basename": named.name}
        for named in named_files
        if named.name not in names
    ]
    return BundledEntry(entry.source, {**entry.value, "secondaryFiles": secondary})


def add_secondary_files(
    value: Mapping[str, Any], patterns: Sequence[SecondaryFile]
) -> Mapping[str, Any]:
    """Return a File of this machine with the secondary files that patterns find beside it.

    Values without a path, or whose ``secondaryFiles`` are malformed, stay as they are.

    Raises:
        Unprocessable: A required one is missing.
    """
    path, declared = local_path_of(value), value.get("secondaryFiles", [])
    if path is None or not isinstance(declared, list):
        return value
    if not all(isinstance(other, Mapping) for other in declared):
        return value
    named = list(declared)
    names = {other.get("basename") for other in named}
    for other, needed in _secondary_paths(path, patterns):
        if other.name in names:
            continue
        if other.exists():
            named.append(file_object(other))
        elif needed:
            raise Unprocessable(
                f"{shown_path(other)} is missing, which must be beside {quoted(path.name)}"
            )
    return {**value, "secondaryFiles": named} if named else value


def _secondary_paths(file: Path, patterns: Sequence[SecondaryFile]) -> list[tuple[Path, bool]]:
    """Return where the secondary files of a file would be, and whether each is required."""
    names = {secondary_name(file.name, pattern.pattern): pattern.required for pattern in patterns}
    return [
        (file.with_name(name), required) for name, required in names.items() if name != file.name
    ]


def file_object(path: Path) -> dict[str, Any]:
    """Return a file or folder of this machine as a CWL object."""
    path = path.absolute()
    name = path.name if path.name not in ("", "..") else path.resolve().name
    return {
        "class": "Directory" if path.is_dir() else "File",
        "location": path.as_uri(),
        "basename": name,
    }
