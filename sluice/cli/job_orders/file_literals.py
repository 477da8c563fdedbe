"""Literals of a job order: files and directories that are written there with their content."""

import atexit
import shutil
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from sluice.clientkit.local_paths import local_path_of
from sluice.contracts.common.problems import Unprocessable
from sluice.text.os_errors import reason_of
from sluice.text.visible_text import quoted

_NAMELESS = {"File": "file", "Directory": "folder"}


def write_literal(value: Mapping[str, Any]) -> dict[str, Any]:
    """Write a literal to a temporary folder, which is removed when this process ends.

    The result is the literal with the path of what was written, also in its listing. As in cwltool,
    tools see the listing of such a directory, but not that of another.

    Args:
        value: A File with ``contents``, or a Directory with a ``listing`` of files and directories
            that have an absolute path or address.

    Raises:
        Unprocessable: The literal has an unsuitable name or content, a file of it cannot be read,
            or it cannot be written.
    """
    try:
        return _with_path(value, _write(value, Path(tempfile.mkdtemp(dir=_literal_folder()))))
    except (OSError, shutil.Error) as error:
        raise Unprocessable(
            f"a {value['class']} of the job order cannot be written as a file: {reason_of(error)}"
        ) from error


def _with_path(value: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Return a file or directory with another path."""
    fields = {key: field for key, field in value.items() if key not in ("path", "location")}
    if "listing" in value:
        fields["listing"] = [
            _with_path(entry, path / _entry_name(entry)) for entry in value["listing"]
        ]
    return {**fields, "path": str(path)}


@cache
def _literal_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="sluice-literals-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _write(value: Mapping[str, Any], folder: Path) -> Path:
    path = folder / _require_name(value.get("basename") or _NAMELESS[value["class"]])
    contents, listing = value.get("contents", ""), value.get("listing", [])
    if value["class"] == "File":
        if not isinstance(contents, str):
            raise Unprocessable(f"'contents' of the file {quoted(path.name)} is not a text")
        path.write_text(contents, encoding="utf-8", newline="")
        return path
    if not isinstance(listing, list):
        raise Unprocessable(f"'listing' of the directory {quoted(path.name)} is not a list")
    path.mkdir()
    for entry in listing:
        _copy_entry(entry, path)
    return path


def _copy_entry(entry: Any, folder: Path) -> None:
    """Copy a file or directory of a listing. Literals in it have been written before."""
    source = local_path_of(entry) if isinstance(entry, Mapping) else None
    if source is None or entry.get("class") not in _NAMELESS:
        raise Unprocessable(
            f"the 'listing' of the directory {quoted(folder.name)} has something else than files"
            " and directories with a place or content"
        )
    target = folder / _entry_name(entry)
    if target.exists():
        raise Unprocessable(
            f"the directory {quoted(folder.name)} lists {quoted(target.name)} twice"
        )
    copy = shutil.copytree if source.is_dir() else shutil.copyfile
    copy(source, target)


def _entry_name(entry: Mapping[str, Any]) -> str:
    """Return the name of an entry of a listing, which has a place."""
    return _require_name(entry.get("basename") or getattr(local_path_of(entry), "name", None))


def _require_name(name: Any) -> str:
    """Return the name of an entry of a folder, which cannot lead out of the folder."""
    if not isinstance(name, str) or "/" in name or "\0" in name or name in (".", ".."):
        raise Unprocessable(f"{quoted(name)} is not the name of a file")
    return name
