"""Packing of a workflow and the files that it refers to into one document."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from sluice.contracts.common.problems import Finding, Unprocessable
from sluice.cwl.documents.embedded_files import FileEmbedder
from sluice.cwl.documents.named_types import address_types
from sluice.cwl.documents.prefixes import Prefixes
from sluice.cwl.documents.versions import drop_inner_versions
from sluice.cwl.features import PROCESSES
from sluice.cwl.reading.files import DiskFiles, FileRefused, FileSet
from sluice.cwl.reading.findings import START, Findings, TextPlace, TooManyErrors, text_place
from sluice.cwl.reading.nodes import (
    clone,
    count_values,
    find_identified,
    named_nodes,
    nesting_depth,
    plain_json,
    put_at,
)
from sluice.cwl.reading.yaml_text import MAX_BYTES, MAX_DEPTH, MAX_NODES, ValueBudget, read_text
from sluice.text.identifiers import local_name
from sluice.text.visible_text import quoted

_MAX_LEVELS = 16

#: The processes that a ``#name`` may mean in the file that is inlined. It is None for the main
#: file, whose references stay.
_Graph = Mapping[str, CommentedMap] | None


class PackError(Unprocessable):
    """The files could not be packed. ``findings`` say why, each with its file."""

    slug, title = "template-files", "Template files cannot be combined"

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__("the files of the template cannot be put together", findings=findings)


def pack_template(path: Path) -> str:
    """Return the text of ``path`` with all that it refers to (``run``, ``$import``, ``$include``).

    A text without references stays as written, even with errors. Findings about the packed text
    have places in it. `compile_file` gives places in the files.

    Raises:
        PackError: The files cannot be packed.
    """
    findings = Findings(str(path))
    packed = read_files(str(path), DiskFiles(), findings, main_findings=Findings(str(path)))
    if findings.failed:
        raise PackError(findings.sorted())
    if not packed.inlined:
        return packed.text
    packed.address_types(Findings(str(path)))
    return dump_document(packed.root)


def gather_files(path: Path) -> tuple[str, dict[str, str]]:
    """Return a file and all files that it refers to, as written.

    Returns:
        The path of the file, and the texts by path. Paths are relative to the common folder.

    Raises:
        PackError: A file cannot be read, or a reference works on this disk only.
    """
    findings, disk = Findings(str(path)), DiskFiles(portable=True)
    read_files(str(path), disk, findings, main_findings=Findings(str(path)))
    if findings.failed:
        raise PackError(findings.sorted())
    texts = {os.path.abspath(key): text for key, text in disk.texts.items()}
    root = os.path.commonpath([os.path.dirname(key) for key in texts])
    relative_texts = {Path(key).relative_to(root).as_posix(): text for key, text in texts.items()}
    return Path(os.path.abspath(path)).relative_to(root).as_posix(), relative_texts


def dump_document(root: Any) -> str:
    """Return the document as JSON, which is also YAML and keeps texts apart from numbers."""
    return json.dumps(plain_json(root), indent=2, ensure_ascii=False) + "\n"


@dataclass(slots=True)
class Packed:
    """The files of a template as one document.

    Attributes:
        text: The text of the first file, as written.
        root: The document.
        inlined: Whether there are other files.
        files: The files.
    """

    text: str
    root: Any
    inlined: bool
    files: FileSet

    def address_types(self, findings: Findings) -> Any:
        """Make the names of types unique in the document.

        Returns:
            The document, or None after an error.
        """
        addressed = address_types(self.root, self.files, findings)
        self.root = self.root if addressed is None else addressed
        return addressed


def read_files(
    main_file: str, files: FileSet, findings: Findings, *, main_findings: Findings
) -> Packed:
    """Read a file and all that it refers to.

    Args:
        main_file: The key of the first file.
        files: The files.
        findings: Gets the errors of references and of other files.
        main_findings: Gets the errors of the first file's text.
    """
    inliner = _FileInliner(files, findings)
    text = inliner.read(main_file, START)
    root = None if text is None else read_text(text, main_findings, inliner.budget)
    drop_inner_versions(root, findings)
    if isinstance(root, CommentedMap):
        inliner.prefixes.declare(root, main_file, findings)
        with suppress(TooManyErrors):
            root = inliner.inline(root, main_file, (f"{files.identity(main_file)}#",), None)
            inliner.prefixes.add_to(root)
    return Packed(text or "", root, inliner.inlined, files)


@dataclass(slots=True)
class _FileInliner:
    """Reads files and inlines them.

    Attributes:
        files: The files.
        findings: Gets the errors.
        inlined: Whether another file was inlined.
        prefixes: The prefixes that the files declare.
        values: The values inlined so far. Small files that name each other can expand to many.
        characters: The included characters so far.
        depth: The number of levels around the current node.
        budget: The budget of values for all files.
        parsed_files: The documents by file.
        inlined_steps: The steps whose tool is inlined, by `id`.
    """

    files: FileSet
    findings: Findings
    inlined: bool = False
    prefixes: Prefixes = field(default_factory=Prefixes)
    values: int = 0
    characters: int = 0
    depth: int = 0
    budget: ValueBudget = field(default_factory=ValueBudget)
    parsed_files: dict[str, Any] = field(default_factory=dict)
    inlined_steps: set[int] = field(default_factory=set)

    def read(self, key: str, place: TextPlace) -> str | None:
        """Return the text of a file, or None after an error at the place of the reference."""
        try:
            return self.files.text(key)
        except FileRefused as error:
            self.findings.error(place, error.message)
        return None

    def parse(self, text: str, file: str) -> Any:
        """Return the document of a text, with errors under the name of its file."""
        outer_file = self.findings.file
        self.findings.file = file
        try:
            root = read_text(text, self.findings, self.budget)
            drop_inner_versions(root, self.findings)
            return root
        finally:
            self.findings.file = outer_file

    def inline(self, node: Any, base: str, stack: tuple[str, ...], graph: _Graph) -> Any:
        """Return a node with everything that it refers to inlined.

        Args:
            node: The node, which may be changed.
            base: The file that contains the node.
            stack: The files and processes around it.
            graph: The processes that a ``#name`` may mean.
        """
        self.depth += 1
        try:
            return self._inline_node(node, base, stack, graph)
        finally:
            self.depth -= 1

    def _inline_node(self, node: Any, base: str, stack: tuple[str, ...], graph: _Graph) -> Any:
        if isinstance(node, CommentedSeq):
            _splice(node, [self.inline(item, base, stack, graph) for item in node])
        elif isinstance(node, CommentedMap):
            if len(node) == 1 and isinstance(node.get("$include"), str):
                return self._include_text(node, base)
            if len(node) == 1 and isinstance(node.get("$import"), str):
                return self._inline_file(node, "$import", base, stack)
            embedder = FileEmbedder(self.files, self._has_space)
            embedder.embed_secondary_files(node, base)
            self.inlined |= embedder.embed(node, base)
            for step in _steps(node):
                if isinstance(step.get("run"), str):
                    put_at(
                        step,
                        "run",
                        self._inline_tool(step, base, stack, graph),
                        text_place(step, "run"),
                    )
                    self.inlined_steps.add(id(step))
            for key, value in node.items():
                if key != "run" or id(node) not in self.inlined_steps:
                    node[key] = self.inline(value, base, stack, graph)
        return node

    def _inline_tool(
        self, step: CommentedMap, base: str, stack: tuple[str, ...], graph: _Graph
    ) -> Any:
        run = step["run"]
        if not run.startswith("#"):
            return self._inline_file(step, "run", base, stack)
        process = None if graph is None else graph.get(local_name(run))
        if graph is None or process is None or self.values > MAX_NODES:
            return run
        identity = f"{self.files.identity(base)}#{local_name(run)}"
        if identity in stack or len(stack) > _MAX_LEVELS:
            self.findings.error(
                text_place(step, "run"), f"{base}#{local_name(run)} refers to itself"
            )
            return run
        return self.inline(
            self._copy_node(process, text_place(step, "run"), base),
            base,
            (*stack, identity),
            graph,
        )

    def _find_file(self, node: CommentedMap, key: str, base: str) -> tuple[str, str] | None:
        """Return the key of the file that ``node[key]`` names and the fragment, or None."""
        name, _, fragment = node[key].partition("#")
        if not name:  # another part of the same file
            return base, fragment
        try:
            return self.files.find(base, name), fragment
        except FileRefused as error:
            self.findings.error(text_place(node, key), error.message)
        return None

    def _include_text(self, node: CommentedMap, base: str) -> Any:
        target = self._find_file(node, "$include", base)
        text = None if target is None else self.read(target[0], text_place(node, "$include"))
        self.inlined = True
        if text is None:
            return node
        return text if self._has_space(text, text_place(node, "$include")) else node

    def _has_space(self, text: str, place: TextPlace) -> bool:
        self.characters += len(text)
        if self.characters > MAX_BYTES:
            self.findings.error(
                place, "the texts included up to here are more than 2 MiB: too much"
            )
        return self.characters <= MAX_BYTES

    def _inline_file(self, node: CommentedMap, key: str, base: str, stack: tuple[str, ...]) -> Any:
        """Return the inlined document that ``node[key]`` names, or the old value after an error."""
        original = node[key] if key == "run" else node
        target = self._find_file(node, key, base)
        if target is None:
            return original
        file, fragment = target
        place, identity = (
            text_place(node, key),
            f"{self.files.identity(file)}#{local_name(fragment) if fragment else ''}",
        )
        if identity in stack or len(stack) > _MAX_LEVELS:
            self.findings.error(place, f"{file} refers to itself")
            return original
        if file not in self.parsed_files:
            text = self.read(file, place)
            self.parsed_files[file] = None if text is None else self.parse(text, file)
        document = self.parsed_files[file]
        if document is None or self.values > MAX_NODES:
            return original
        self.inlined = True
        if isinstance(document, CommentedMap):
            self.prefixes.declare(document, file, self.findings)
        part, graph = _find_part(document, fragment, is_import=key == "$import")
        if part is None:
            self.findings.error(place, f"{file} has no process {quoted(fragment or 'main')}")
            return original
        copy = self._copy_node(part, place, file)
        if isinstance(copy, CommentedMap) and part is document:
            copy.pop("$namespaces", None)
            copy.pop("$schemas", None)
        elif isinstance(copy, CommentedMap) and copy.get("class") not in tuple(PROCESSES):
            copy.pop("id", None)  # requirements have no identifiers
        elif isinstance(copy, CommentedMap) and "cwlVersion" in document:
            put_at(copy, "cwlVersion", document["cwlVersion"], place)
        return self.inline(copy, file, (*stack, identity), graph)

    def _copy_node(self, node: Any, place: TextPlace, file: str) -> Any:
        """Return a copy of a node of ``file``.

        The copy is None if the document would become too large or too deep.
        """
        self.values += count_values(node)
        if self.values > MAX_NODES:
            self.findings.error(
                place,
                f"more than {MAX_NODES} values with the files up to here: too many for a template",
            )
        elif self.depth + nesting_depth(node) > MAX_DEPTH:
            self.findings.error(
                place,
                f"more than {MAX_DEPTH} levels of nesting with this file: too deep for a template",
            )
        else:
            copy = clone(node)
            self.prefixes.expand_others(copy, file)
            return copy
        return None


def _find_part(document: Any, fragment: str, *, is_import: bool) -> tuple[Any, _Graph]:
    """Return what a fragment names in a document, or None, and all processes of the document.

    An import may also name other nodes with an identifier, such as requirements. Without a fragment
    it is the document, or the main process of several.
    """
    part = find_identified(document, fragment) if is_import and fragment else None
    if not isinstance(document, CommentedMap) or "$graph" not in document:
        return document if part is None else part, {}
    processes = {
        entry.name: entry.body
        for entry in named_nodes(document["$graph"])
        if entry.body is not None
    }
    return processes.get(local_name(fragment or "main"), part), processes


def _splice(items: CommentedSeq, inlined_items: list[Any]) -> None:
    """Replace ``items`` by ``inlined_items``.

    An import that is a list becomes several items, each at the place of the import.
    """
    nodes: list[tuple[Any, Any]] = []
    for index, (item, inlined_item) in enumerate(zip(list(items), inlined_items, strict=True)):
        is_list = isinstance(inlined_item, CommentedSeq) and inlined_item is not item
        nodes += [
            (node, items.lc.data.get(index))
            for node in (inlined_item if is_list else [inlined_item])
        ]
    items[:] = [node for node, _ in nodes]
    items.lc.data = {index: place for index, (_, place) in enumerate(nodes) if place is not None}


def _steps(node: CommentedMap) -> Iterator[CommentedMap]:
    if node.get("class") == "Workflow":
        for entry in named_nodes(node.get("steps")):
            if entry.body is not None:
                yield entry.body
