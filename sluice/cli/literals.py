"""Literals of a job order: files and directories that are written there with their content."""

import atexit
import shutil
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from sluice.contracts.common.problems import Unprocessable
from sluice.text.os_errors import reason_of
from sluice.text.visible_text import quoted

_NAMELESS = {"File": "file", "Directory": "folder"}


def write_literal(value: Mapping[str, Any]) -> Path:
    """Write a literal to a temporary folder, which is removed when this process ends.

    Args:
        value: A File with ``contents``, or a Directory with a ``listing`` of files and directories
            that are literals or have a path.

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
    name = value.get("basename") or _NAMELESS[value["class"]]
    if not isinstance(name, str) or "/" in name or name in (".", ".."):
        raise Unprocessable(f"{quoted(name)} is not the name of a file")
    path = folder / name
    contents, listing = value.get("contents", ""), value.get("listing", [])
    if value["class"] == "File":
        if not isinstance(contents, str):
            raise Unprocessable(f"'contents' of the file {quoted(name)} is not a text")
        path.write_text(contents, encoding="utf-8", newline="")
        return path
    if not isinstance(listing, list):
        raise Unprocessable(f"'listing' of the directory {quoted(name)} is not a list")
    path.mkdir()
    for entry in listing:
        _write_entry(entry, path)
    return path


def _write_entry(entry: Any, folder: Path) -> None:
    if not isinstance(entry, Mapping) or entry.get("class") not in _NAMELESS:
        raise Unprocessable("the 'listing' of a directory has files and directories only")
    place = entry.get("path") or entry.get("location")
    if place is None:
        _write(entry, folder)
        return
    source = Path(str(place).removeprefix("file://"))
    copy = shutil.copytree if source.is_dir() else shutil.copyfile
    copy(source, folder / (entry.get("basename") or source.name))
