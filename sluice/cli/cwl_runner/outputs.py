"""The outputs of one tool, put into the user's folder and told as CWL runners tell them."""

import hashlib
import os
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sluice.cli.cwl_runner.values import local_path


def put_out(value: Any, folder: Path) -> Any:
    """``value`` with its files moved into ``folder``, a number added to a name that is taken. Raises ``OSError``."""
    return _Putter(folder).put(value, None)


class _Putter:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._moved: dict[str, Path] = {}

    def put(self, value: Any, beside: Path | None) -> Any:
        """``beside``: the folder for secondary files, that of their primary one."""
        match value:
            case list():
                return [self.put(one, beside) for one in value]
            case {"class": "File" | "Directory"}:
                return self._object(value, beside)
            case dict():
                return {key: self.put(one, beside) for key, one in value.items()}
        return value

    def _object(self, value: dict[str, Any], beside: Path | None) -> dict[str, Any]:
        source = local_path(value)
        path = self._moved.get(source) if source else None
        if path is None:
            path = self._free(beside or self._folder, value.get("basename") or "output")
            self._place(value, source, path)
            if source:
                self._moved[source] = path
        told = {key: one for key, one in value.items() if key not in ("path", "contents", "listing", "size")}
        told |= _told(path, value["class"])
        if "secondaryFiles" in value:
            told["secondaryFiles"] = self.put(value["secondaryFiles"], path.parent)
        return told

    def _place(self, value: dict[str, Any], source: str, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        if source:
            shutil.move(source, path)
        elif value["class"] == "File":
            path.write_text(value.get("contents", ""))
        else:
            path.mkdir()
            for one in value.get("listing", ()):
                _Putter(path).put(one, None)

    def _free(self, folder: Path, name: str) -> Path:
        """As runners do: ``a.txt``, ``a_2.txt``, ``a_3.txt``; what was there before this run is replaced."""
        taken = set(self._moved.values())
        stem, extension = os.path.splitext(name)
        path, number = folder / name, 1
        while path in taken:
            number += 1
            path = folder / f"{stem}_{number}{extension}"
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        return path


def _told(path: Path, kind: str) -> dict[str, Any]:
    told: dict[str, Any] = {"class": kind, "location": "file://" + quote(str(path)), "basename": path.name, "path": str(path)}
    if kind == "Directory":
        told["listing"] = [_told(one, "Directory" if one.is_dir() else "File") for one in sorted(path.iterdir())]
        return told
    with path.open("rb") as file:
        checksum = hashlib.file_digest(file, "sha1").hexdigest()
    return told | {"checksum": f"sha1${checksum}", "size": path.stat().st_size}
