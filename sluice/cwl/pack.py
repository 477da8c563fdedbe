"""Puts a workflow whose tools stand in files of their own together into one text.

For the command line: it reads files, never addresses.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from sluice.contracts.problems import Finding, Unprocessable
from sluice.cwl.findings import START, Findings, Place, place_of
from sluice.cwl.text import MOST_BYTES, read_text
from sluice.cwl.tree import entries, plain, put, short_name

_MOST_LEVELS = 16


class PackError(Unprocessable):
    """The files could not be put together; ``findings`` say why, each with its file."""

    slug, title = "template-files", "The files of a template cannot be put together"

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__("the files of the template cannot be put together", findings=findings)


def pack_template(path: Path) -> str:
    """The text of ``path`` with all it refers to in it: ``run: x.cwl``, ``$import``, ``$include``.

    A text that refers to nothing stays as written, right or wrong.
    Raises `PackError`. Findings about the packed text have their places there; `compile_file` gives those in the files.
    """
    findings = Findings(str(path))
    packed = read_files(path, findings, Findings(str(path)))
    if findings.failed:
        raise PackError(findings.sorted())
    return packed.text if not packed.inlined else as_text(packed.root)


def as_text(root: Any) -> str:
    """The document as JSON, which is YAML too, and in which no text can be taken for a number."""
    return json.dumps(plain(root), indent=2, ensure_ascii=False) + "\n"


@dataclass(slots=True)
class Packed:
    """``text``: of the first file, as written. ``root``: all files as one document. ``inlined``: there were others."""

    text: str
    root: Any
    inlined: bool


def read_files(path: Path, findings: Findings, own: Findings) -> Packed:
    """``own`` takes what is wrong with the text of ``path`` itself, ``findings`` all that is wrong with its references."""
    reader = _Reader(findings)
    text = reader.read(path, START, str(path))
    root = None if text is None else read_text(text, own)
    if isinstance(root, CommentedMap):
        root = reader.inline(root, path.parent, (path.resolve(),))
        reader.add_namespaces(root)
    return Packed(text or "", root, reader.inlined)


@dataclass(slots=True)
class _Reader:
    """``namespaces``: prefixes that other files declare."""

    findings: Findings
    inlined: bool = False
    namespaces: dict[str, tuple[str, Place]] = field(default_factory=dict)

    def read(self, path: Path, asked: Place, shown: str) -> str | None:
        try:
            if path.stat().st_size > MOST_BYTES:
                self.findings.error(asked, f"{shown} is too large for a template: at most {MOST_BYTES} bytes (2 MiB) are read")
                return None
            return path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            self.findings.error(asked, f"{shown} is not text in UTF-8")
        except OSError as error:
            self.findings.error(asked, f"{shown} cannot be read: {error.strerror}")
        return None

    def parse(self, text: str, shown: str) -> Any:
        own = self.findings.file
        self.findings.file = shown
        try:
            return read_text(text, self.findings)
        finally:
            self.findings.file = own

    def inline(self, node: Any, folder: Path, stack: tuple[Path, ...]) -> Any:
        if isinstance(node, CommentedSeq):
            for index, item in enumerate(node):
                node[index] = self.inline(item, folder, stack)
        elif isinstance(node, CommentedMap):
            if len(node) == 1 and isinstance(node.get("$include"), str):
                return self._included(node, folder)
            if len(node) == 1 and isinstance(node.get("$import"), str):
                return self._other(node, "$import", folder, stack)
            for step in _steps(node):
                if isinstance(step.get("run"), str) and not step["run"].startswith("#"):
                    put(step, "run", self._other(step, "run", folder, stack), place_of(step, "run"))
            for key, value in node.items():
                node[key] = self.inline(value, folder, stack) if key != "run" else value
        return node

    def _path(self, node: CommentedMap, key: str, folder: Path) -> tuple[Path, str, str] | None:
        """The file that ``node[key]`` names, its name in findings, and the fragment."""
        name, _, fragment = node[key].partition("#")
        name = name.removeprefix("file://")
        if "://" in name:
            self.findings.error(place_of(node, key), f"{name} is an address; only files are read: fetch it, and name the file")
            return None
        path = folder / unquote(name)
        return path, str(path), fragment

    def _included(self, node: CommentedMap, folder: Path) -> Any:
        found = self._path(node, "$include", folder)
        text = None if found is None else self.read(found[0], place_of(node, "$include"), found[1])
        self.inlined = True
        return node if text is None else text

    def _other(self, node: CommentedMap, key: str, folder: Path, stack: tuple[Path, ...]) -> Any:
        """The document that ``node[key]`` names, itself inlined; as it was, after an error."""
        found = self._path(node, key, folder)
        if found is None:
            return node[key] if key == "run" else node
        path, shown, fragment = found
        place = place_of(node, key)
        if path.resolve() in stack or len(stack) > _MOST_LEVELS:
            self.findings.error(place, f"{shown} refers to itself")
            return node[key] if key == "run" else node
        text = self.read(path, place, shown)
        other = None if text is None else self.parse(text, shown)
        if other is None:
            return node[key] if key == "run" else node
        self.inlined = True
        if isinstance(other, CommentedMap):
            other = self._part(other, fragment, place, shown)
        return self.inline(other, path.parent, (*stack, path.resolve()))

    def _part(self, other: CommentedMap, fragment: str, place: Place, shown: str) -> Any:
        namespaces = other.pop("$namespaces", None)
        other.pop("$schemas", None)
        for prefix, address in namespaces.items() if isinstance(namespaces, CommentedMap) else ():
            if self.namespaces.setdefault(prefix, (address, place))[0] != address:
                self.findings.error(place, f"{shown} declares the prefix '{prefix}' for another address than the files before it")
        if "$graph" not in other:
            return other
        parts = {entry.name: entry.body for entry in entries(other["$graph"])}
        part = parts.get(short_name(fragment or "main"))
        if part is None:
            self.findings.error(place, f"{shown} has no process '{fragment or 'main'}'")
            return other
        if "cwlVersion" in other:
            put(part, "cwlVersion", other["cwlVersion"], place)
        return part

    def add_namespaces(self, root: CommentedMap) -> None:
        if not self.namespaces:
            return
        declared = root.setdefault("$namespaces", CommentedMap())
        for prefix, (address, place) in self.namespaces.items():
            if isinstance(declared, CommentedMap) and declared.setdefault(prefix, address) != address:
                self.findings.error(place, f"the tool there declares the prefix '{prefix}' for another address than the workflow")


def _steps(node: CommentedMap) -> Iterator[CommentedMap]:
    if node.get("class") == "Workflow":
        for entry in entries(node.get("steps")):
            if entry.body is not None:
                yield entry.body
