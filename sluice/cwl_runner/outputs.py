"""Outputs of a tool, moved to the user's folder and described as other CWL runners do."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sluice.cwl_runner.values import source_path
from sluice.storage import build_location
from sluice.text.visible_text import quoted


class OutputPathOccupied(ValueError):
    """An output cannot have its name or its place; ``str()`` is a sentence."""


def place_outputs(value: Any, folder: Path) -> Any:
    """Move the files in ``value`` to ``folder``, and return ``value`` with their new places.

    If two outputs have the same name, the second name gets a number. The files of an output
    directory are added to a directory that exists already.

    Raises:
        OutputPathOccupied: An output cannot have its name or its place; nothing was moved.
        OSError: A file cannot be read or moved.
    """
    with tempfile.TemporaryDirectory() as literals_folder:
        placement = _OutputPlacement(folder, Path(literals_folder))
        description = placement.place(value, None)
        for source, path in placement.moves.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            _move(source, path)
        return description


class _OutputPlacement:
    """Decides where everything goes. ``literals_folder`` is a folder for literals."""

    def __init__(self, folder: Path, literals_folder: Path) -> None:
        self.moves: dict[Path, Path] = {}
        self._folder = folder
        self._literals_folder = literals_folder

    def place(self, value: Any, parent_folder: Path | None) -> Any:
        """Return the description of ``value`` after the moves.

        ``parent_folder`` is the folder for secondary files, which is that of their primary file.
        """
        match value:
            case list():
                return [self.place(inner, parent_folder) for inner in value]
            case {"class": "File" | "Directory"}:
                return self._place_object(value, parent_folder)
            case dict():
                return {key: self.place(inner, parent_folder) for key, inner in value.items()}
        return value

    def _place_object(self, value: dict[str, Any], parent_folder: Path | None) -> dict[str, Any]:
        source = Path(
            source_path(value)
            or self._create_literal(value, Path(tempfile.mkdtemp(dir=self._literals_folder)))
        )
        path = self.moves.get(source)
        if path is None:
            path = self._unused_path(parent_folder or self._folder, _name(value))
            _check_replaceable(source, path)
            self.moves[source] = path
        description = {
            key: inner
            for key, inner in value.items()
            if key not in ("path", "contents", "listing", "size")
        }
        description |= _describe(source, path)
        if "secondaryFiles" in value:
            description["secondaryFiles"] = self.place(value["secondaryFiles"], path.parent)
        return description

    def _create_literal(self, value: Mapping[str, Any], folder: Path) -> Path:
        """Create a literal File or Directory in ``folder`` and return its path."""
        path = folder / _name(value)
        if value["class"] == "File":
            path.write_text(value.get("contents", ""))
            return path
        path.mkdir()
        for inner in value.get("listing", ()):
            source = source_path(inner)
            if source:
                shutil.move(source, path / _name(inner))
            else:
                self._create_literal(inner, path)
        return path

    def _unused_path(self, folder: Path, name: str) -> Path:
        """Return a path that no other output has: ``a.txt``, ``a_2.txt``, ``a_3.txt``.

        Other runners use the same names. A file from before this run is replaced.
        """
        used_paths = set(self.moves.values())
        stem, extension = os.path.splitext(name)
        path, number = folder / name, 1
        while path in used_paths:
            number += 1
            path = folder / f"{stem}_{number}{extension}"
        return path


def _name(value: Mapping[str, Any]) -> str:
    name = str(value.get("basename") or "output")
    if name in {".", ".."} or "/" in name or "\0" in name:
        raise OutputPathOccupied(
            f"an output is called {quoted(name)}, which is not the name of a file or directory"
        )
    return name


def _check_replaceable(source: Path, path: Path) -> None:
    """Require that no file replaces a directory, and no directory a file.

    Raises:
        OutputPathOccupied: One of them would.
    """
    if not source.is_dir():
        if path.is_dir():
            raise OutputPathOccupied(
                f"{path} is a directory, and the output of that name is a file: choose another"
                " --outdir"
            )
    elif path.is_dir():
        for inner in source.iterdir():
            _check_replaceable(inner, path / inner.name)
    elif os.path.lexists(path):
        raise OutputPathOccupied(
            f"{path} is a file, and the output of that name is a directory: choose another --outdir"
        )


def _move(source: Path, path: Path) -> None:
    if source.is_dir() and path.is_dir():
        for inner in source.iterdir():
            _move(inner, path / inner.name)
    else:
        shutil.move(source, path)


def _describe(source: Path, path: Path) -> dict[str, Any]:
    """Return the description that ``source`` will have at ``path``."""
    description: dict[str, Any] = {
        "location": build_location(path),
        "basename": path.name,
        "path": str(path),
    }
    if source.is_dir():
        listing = [_describe(inner, path / inner.name) for inner in sorted(source.iterdir())]
        return {"class": "Directory"} | description | {"listing": listing}
    with source.open("rb") as file:
        checksum = hashlib.file_digest(file, "sha1").hexdigest()
    return (
        {"class": "File"}
        | description
        | {"checksum": f"sha1${checksum}", "size": source.stat().st_size}
    )
