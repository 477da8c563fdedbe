"""Puts a workflow whose tools stand in files of their own together into one document."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from sluice.contracts.problems import Finding, Unprocessable
from sluice.cwl.documents.file_literals import make_literal, naming_field
from sluice.cwl.documents.named_types import address_types
from sluice.cwl.documents.versions import drop_inner_versions
from sluice.cwl.reading.files import DiskFiles, FileRefused, FileSet, UploadedFiles
from sluice.cwl.reading.findings import START, EnoughFound, Findings, TextPlace, text_place
from sluice.cwl.reading.nodes import (
    clone,
    count_values,
    depth_of,
    local_name,
    mappings,
    named_nodes,
    plain_json,
    put_at,
)
from sluice.cwl.reading.yaml_text import MOST_BYTES, MOST_DEPTH, MOST_NODES, ValueBudget, read_text

_MOST_LEVELS = 16

#: Where a ``#name`` of the file that is being put in place leads: None in the first file, whose own
#: stay as they are.
_Graph = Mapping[str, CommentedMap] | None


class PackError(Unprocessable):
    """The files could not be put together; ``findings`` say why, each with its file."""

    slug, title = "template-files", "The files of a template cannot be put together"

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__("the files of the template cannot be put together", findings=findings)


def pack_template(path: Path) -> str:
    """The text of ``path`` with all it refers to in it: ``run: x.cwl``, ``$import``, ``$include``.

    A text that refers to nothing stays as written, right or wrong. Raises `PackError`. Findings
    about the packed text have their places there; `compile_file` gives those in the files.
    """
    findings = Findings(str(path))
    packed = read_files(str(path), DiskFiles(), findings, own=Findings(str(path)))
    if findings.failed:
        raise PackError(findings.sorted())
    if not packed.inlined:
        return packed.text
    packed.address_types(Findings(str(path)))
    return as_text(packed.root)


def gather_files(path: Path) -> tuple[str, dict[str, str]]:
    """The file at ``path`` and all it refers to, as written, by their paths below the folder that
    holds them all; first the path of the file itself. Raises `PackError` where one cannot be read,
    or is referred to in a way that holds on this disk only.
    """
    findings, disk = Findings(str(path)), DiskFiles(portable=True)
    read_files(str(path), disk, findings, own=Findings(str(path)))
    if findings.failed:
        raise PackError(findings.sorted())
    places = {os.path.abspath(key): text for key, text in disk.read.items()}
    root = os.path.commonpath([os.path.dirname(place) for place in places])
    found = {Path(place).relative_to(root).as_posix(): text for place, text in places.items()}
    return Path(os.path.abspath(path)).relative_to(root).as_posix(), found


def as_text(root: Any) -> str:
    """The document as JSON, which is YAML too, and in which no text can be taken for a number."""
    return json.dumps(plain_json(root), indent=2, ensure_ascii=False) + "\n"


@dataclass(slots=True)
class Packed:
    """``text``: of the first file, as written. ``root``: all files as one document. ``inlined``:
    there were others."""

    text: str
    root: Any
    inlined: bool
    files: FileSet

    def address_types(self, findings: Findings) -> Any:
        """The document, in which types now have names that hold in all of it; None, with an error,
        where they cannot."""
        addressed = address_types(self.root, self.files, findings)
        self.root = self.root if addressed is None else addressed
        return addressed


def read_files(first: str, files: FileSet, findings: Findings, *, own: Findings) -> Packed:
    """``own`` takes what is wrong with the text of ``first`` itself, ``findings`` all that is wrong
    with its references."""
    reader = _Reader(files, findings)
    text = reader.read(first, START)
    root = None if text is None else read_text(text, own, reader.budget)
    drop_inner_versions(root, findings)
    if isinstance(root, CommentedMap):
        with suppress(EnoughFound):
            root = reader.inline(root, first, (f"{files.identity(first)}#",), None)
            reader.add_namespaces(root)
    return Packed(text or "", root, reader.inlined, files)


@dataclass(slots=True)
class _Reader:
    """``namespaces``: prefixes that other files declare. ``values`` and ``characters``: put in
    place so far; files that name each other several times are small, and what they stand for is
    not. ``budget``: for all files that are read. ``depth``: of levels around the node that is
    inlined."""

    files: FileSet
    findings: Findings
    inlined: bool = False
    namespaces: dict[str, tuple[str, TextPlace]] = field(default_factory=dict)
    values: int = 0
    characters: int = 0
    depth: int = 0
    budget: ValueBudget = field(default_factory=ValueBudget)
    parsed: dict[str, Any] = field(default_factory=dict)
    #: Steps whose tool is in place.
    done: set[int] = field(default_factory=set)

    def read(self, key: str, asked: TextPlace) -> str | None:
        try:
            return self.files.text(key)
        except FileRefused as error:
            self.findings.error(asked, error.message)
        return None

    def parse(self, text: str, file: str) -> Any:
        own = self.findings.file
        self.findings.file = file
        try:
            root = read_text(text, self.findings, self.budget)
            drop_inner_versions(root, self.findings)
            return root
        finally:
            self.findings.file = own

    def inline(self, node: Any, base: str, stack: tuple[str, ...], graph: _Graph) -> Any:
        """``base``: the file that ``node`` stands in. ``stack``: the files, and their processes,
        that it is put into."""
        self.depth += 1
        try:
            return self._inlined(node, base, stack, graph)
        finally:
            self.depth -= 1

    def _inlined(self, node: Any, base: str, stack: tuple[str, ...], graph: _Graph) -> Any:
        if isinstance(node, CommentedSeq):
            _splice(node, [self.inline(item, base, stack, graph) for item in node])
        elif isinstance(node, CommentedMap):
            if len(node) == 1 and isinstance(node.get("$include"), str):
                return self._included(node, base)
            if len(node) == 1 and isinstance(node.get("$import"), str):
                return self._other(node, "$import", base, stack)
            self._give_contents(node, base)
            for step in _steps(node):
                if isinstance(step.get("run"), str):
                    put_at(
                        step, "run", self._tool(step, base, stack, graph), text_place(step, "run")
                    )
                    self.done.add(id(step))
            for key, value in node.items():
                if key != "run" or id(node) not in self.done:
                    node[key] = self.inline(value, base, stack, graph)
        return node

    def _tool(self, step: CommentedMap, base: str, stack: tuple[str, ...], graph: _Graph) -> Any:
        run = step["run"]
        if not run.startswith("#"):
            return self._other(step, "run", base, stack)
        part = None if graph is None else graph.get(local_name(run))
        if graph is None or part is None or self.values > MOST_NODES:
            return run
        me = f"{self.files.identity(base)}#{local_name(run)}"
        if me in stack or len(stack) > _MOST_LEVELS:
            self.findings.error(
                text_place(step, "run"), f"{base}#{local_name(run)} refers to itself"
            )
            return run
        return self.inline(self._copied(part, text_place(step, "run")), base, (*stack, me), graph)

    def _find(self, node: CommentedMap, key: str, base: str) -> tuple[str, str] | None:
        """The key of the file that ``node[key]`` names, and the fragment."""
        name, _, fragment = node[key].partition("#")
        try:
            return self.files.find(base, name), fragment
        except FileRefused as error:
            self.findings.error(text_place(node, key), error.message)
        return None

    def _included(self, node: CommentedMap, base: str) -> Any:
        found = self._find(node, "$include", base)
        text = None if found is None else self.read(found[0], text_place(node, "$include"))
        self.inlined = True
        if text is None:
            return node
        return text if self._has_room(text, text_place(node, "$include")) else node

    def _has_room(self, text: str, place: TextPlace) -> bool:
        self.characters += len(text)
        if self.characters > MOST_BYTES:
            self.findings.error(
                place, "the texts included up to here are more than 2 MiB: too much"
            )
        return self.characters <= MOST_BYTES

    def _give_contents(self, node: CommentedMap, base: str) -> None:
        """A File object that names a file of the template gets its text."""
        key = naming_field(node)
        found = None if key is None else self._find(node, key, base)
        text = None if key is None or found is None else self.read(found[0], text_place(node, key))
        if key is not None and text is not None and self._has_room(text, text_place(node, key)):
            self.inlined = True
            make_literal(node, key, text, self.findings)

    def _other(self, node: CommentedMap, key: str, base: str, stack: tuple[str, ...]) -> Any:
        """The document that ``node[key]`` names, itself inlined; as it was, after an error."""
        as_it_was = node[key] if key == "run" else node
        found = self._find(node, key, base)
        if found is None:
            return as_it_was
        file, fragment = found
        place, me = (
            text_place(node, key),
            f"{self.files.identity(file)}#{local_name(fragment) if fragment else ''}",
        )
        if me in stack or len(stack) > _MOST_LEVELS:
            self.findings.error(place, f"{file} refers to itself")
            return as_it_was
        if file not in self.parsed:
            text = self.read(file, place)
            self.parsed[file] = None if text is None else self.parse(text, file)
        other = self.parsed[file]
        if other is None or self.values > MOST_NODES:
            return as_it_was
        self.inlined = True
        part, graph = self._part(other, fragment, place, file)
        copy = self._copied(part, place)
        if isinstance(copy, CommentedMap) and part is other:
            copy.pop("$namespaces", None)
            copy.pop("$schemas", None)
        elif isinstance(copy, CommentedMap) and "cwlVersion" in other:
            put_at(copy, "cwlVersion", other["cwlVersion"], place)
        return self.inline(copy, file, (*stack, me), graph)

    def _copied(self, node: Any, place: TextPlace) -> Any:
        """A copy of ``node``, or None where the document would get too large or too deep."""
        self.values += count_values(node)
        if self.values > MOST_NODES:
            self.findings.error(
                place,
                f"more than {MOST_NODES} values with the files up to here: too many for a template",
            )
        elif self.depth + depth_of(node) > MOST_DEPTH:
            self.findings.error(
                place,
                f"more than {MOST_DEPTH} levels of nesting with this file: too deep for a template",
            )
        else:
            return clone(node)
        return None

    def _part(self, other: Any, fragment: str, place: TextPlace, file: str) -> tuple[Any, _Graph]:
        """The process that is meant, as it stands, and the others of its file."""
        if not isinstance(other, CommentedMap):
            return other, {}
        namespaces = other.get("$namespaces")
        for prefix, address in namespaces.items() if isinstance(namespaces, CommentedMap) else ():
            if self.namespaces.setdefault(prefix, (address, place))[0] != address:
                self.findings.error(
                    place,
                    f"{file} declares the prefix '{prefix}' for another address than the files"
                    " before it",
                )
        if "$graph" not in other:
            return other, {}
        parts = {
            entry.name: entry.body
            for entry in named_nodes(other["$graph"])
            if entry.body is not None
        }
        part = parts.get(local_name(fragment or "main"))
        if part is None:
            self.findings.error(place, f"{file} has no process '{fragment or 'main'}'")
            return other, parts
        return part, parts

    def add_namespaces(self, root: CommentedMap) -> None:
        if not self.namespaces:
            return
        declared = root.setdefault("$namespaces", CommentedMap())
        for prefix, (address, place) in self.namespaces.items():
            if (
                isinstance(declared, CommentedMap)
                and declared.setdefault(prefix, address) != address
            ):
                self.findings.error(
                    place,
                    f"the tool there declares the prefix '{prefix}' for another address than the"
                    " workflow",
                )


def _splice(items: CommentedSeq, inlined: list[Any]) -> None:
    """Puts ``inlined`` in the place of ``items``. An import that is a list becomes items, each at
    the place of the import."""
    found: list[tuple[Any, Any]] = []
    for index, (item, new) in enumerate(zip(list(items), inlined, strict=True)):
        is_list = isinstance(new, CommentedSeq) and new is not item
        found += [(node, items.lc.data.get(index)) for node in (new if is_list else [new])]
    items[:] = [node for node, _ in found]
    items.lc.data = {index: place for index, (_, place) in enumerate(found) if place is not None}


def references(root: Any) -> Iterator[str]:
    """What the document refers to, without the fragments."""
    for node in mappings(root):
        for key in ("run", "$import", "$include"):
            name = node.get(key)
            if isinstance(name, str) and not name.startswith("#"):
                yield name.partition("#")[0]


def referred_to(key: str, root: Any, files: UploadedFiles) -> Iterator[str]:
    """Keys of the files that ``root``, the document in ``key``, refers to; those that it should not
    are left out."""
    for name in references(root):
        try:
            yield files.find(key, name)
        except FileRefused:
            continue


def _steps(node: CommentedMap) -> Iterator[CommentedMap]:
    if node.get("class") == "Workflow":
        for entry in named_nodes(node.get("steps")):
            if entry.body is not None:
                yield entry.body
