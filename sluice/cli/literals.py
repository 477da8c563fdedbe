"""Literals of a job order: files and directories that are written there with their content."""

import atexit
import shutil
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from sluice.contracts.common.problems import Unprocessable
from sluice.text.os_errors import reason_of
from sluice.text.visible_text import quoted

_NAMELESS = {"File": "file", "Directory": "folder"}


def write_literal(value: Mapping[str, Any]) -> Path:
    """Write a literal to a temporary folder, which is removed when this process ends.

    Args:
        value: A File with ``contents``, or a Directory with a ``listing`` of files and directories
            that have an absolute path or address.

    Raises:
        Unprocessable: The literal has an unsuitable name or content, a file of it cannot be read,
            or it cannot be written.
    """
    try:
        return _write(value, Path(tempfile.mkdtemp(dir=_literal_folder())))
    except (OSError, shutil.Error) as error:
        raise Unprocessable(
            f"a {value['class']} of the job order cannot be written as a file: {reason_of(error)}"
        ) from error


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
    place = entry.get("path") or entry.get("location") if isinstance(entry, Mapping) else None
    if not isinstance(place, str) or entry.get("class") not in _NAMELESS:
        raise Unprocessable(
            f"the 'listing' of the directory {quoted(folder.name)} has something else than files"
            " and directories with a place or content"
        )
    source = Path(unquote(place.removeprefix("file://")) if place.startswith("file://") else place)
    target = folder / _require_name(entry.get("basename") or source.name)
    if target.exists():
        raise Unprocessable(
            f"the directory {quoted(folder.name)} lists {quoted(target.name)} twice"
        )
    copy = shutil.copytree if source.is_dir() else shutil.copyfile
    copy(source, target)


def _require_name(name: Any) -> str:
    """Return the name of an entry of a folder, which cannot lead out of the folder."""
    if not isinstance(name, str) or "/" in name or "\0" in name or name in (".", ".."):
        raise Unprocessable(f"{quoted(name)} is not the name of a file")
    return name
