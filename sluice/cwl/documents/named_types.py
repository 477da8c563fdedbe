"""Names of types (``SchemaDefRequirement``), made unique in the whole document.

In CWL a type name is an address of a file and of a process in it (``tools/opts.yml#Opts``,
``#main/Opts``). One document for all files would lose these addresses. So names are resolved file
by file before, as the reference runner does.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from sluice.cwl.documents.type_definitions import (
    own_type_lists,
    split_suffix,
    type_lists,
    types_with_names,
)
from sluice.cwl.documents.types import MAX_TYPE_LEVELS, PRIMITIVES, STREAMS
from sluice.cwl.reading.files import FileRefused, FileSet
from sluice.cwl.reading.findings import Findings, TextPlace, suggest_or_list, text_place
from sluice.cwl.reading.nodes import clone, count_values, named_nodes
from sluice.cwl.reading.yaml_text import MAX_NODES
from sluice.text.visible_text import quoted

_BUILTIN_TYPES = PRIMITIVES | STREAMS

#: The parts of a name within its file: ``("main", "opts")`` is ``#main/opts``.
_Path = tuple[str, ...]


def address_types(root: Any, files: FileSet | None, findings: Findings) -> Any:
    """Give each type of a SchemaDefRequirement an absolute name, in its definition and its uses.

    Unknown names are errors.

    Args:
        root: The document.
        files: The files of the document's parts, or None for a document of one file.
        findings: Gets the errors.

    Returns:
        The changed document. None, after an error, if a type contains itself or is too large to be
        written out.
    """
    if not isinstance(root, CommentedMap) or next(type_lists(root), None) is None:
        return root
    document: CommentedMap = clone(root)
    reader = _TypeRenamer(document.lc.filename, files, findings)
    if "$graph" in document:
        processes = [
            entry.body for entry in named_nodes(document["$graph"]) if entry.body is not None
        ]
        # A process that runs a process of the graph may pass its types on to it.
        for process in processes:
            reader.declare(process, _path((), process.get("id")))
        shared_types = dict(reader.definitions)
        for process in processes:
            reader.rename_process(process, (), shared_types)
    else:
        reader.rename_process(document, (), {})
    return document if reader.can_be_expanded() else None


def _path(scope: _Path, name: Any) -> _Path:
    """Return the path that ``name`` means within ``scope``."""
    if not isinstance(name, str):
        return scope
    _, absolute, fragment = name.partition("#")
    return tuple(fragment.split("/")) if absolute else (*scope, *name.split("/"))


@dataclass(frozen=True, slots=True)
class _Address:
    """The address of a type. ``file`` is the identity of the file, whatever its name is."""

    file: str
    path: _Path


@dataclass(slots=True)
class _Definition:
    """A definition of a named type.

    Attributes:
        key: The file, as findings name it.
        address: The address of the type.
        name: The new name.
        values: The number of values without the types that it uses.
        uses: The types that it uses, with the places.
    """

    key: str
    address: _Address
    name: str
    values: int
    uses: list[tuple["_Definition", TextPlace]] = field(default_factory=list)

    @property
    def short(self) -> str:
        """The last part of the name."""
        return self.address.path[-1]


_VisibleTypes = Mapping[_Address, _Definition]
_Uses = list[tuple[_Definition, TextPlace]]


@dataclass(frozen=True, slots=True)
class _TypeContext:
    """The context of a type that is read.

    Attributes:
        path: The path of the owner of the type.
        visible: The types that may be used.
        uses: Collects the types that are used.
    """

    path: _Path
    visible: _VisibleTypes
    uses: _Uses

    def enter_member(self, name: Any) -> "_TypeContext":
        """Return the context for a member of the owner."""
        return replace(self, path=_path(self.path, name))


@dataclass(frozen=True, slots=True)
class _ExpandedSize:
    """The size of a type that is written out. ``levels`` is the depth of named types in it."""

    values: int
    levels: int


class _UnexpandableType(Exception):
    """A type cannot be written out. The message says why."""

    def __init__(self, place: TextPlace, message: str) -> None:
        super().__init__(message)
        self.place = place


@dataclass(slots=True)
class _TypeRenamer:
    """Reads a document and renames its types.

    Attributes:
        main_file: The key of the file whose names do not change.
        files: The files of the document's parts, or None.
        findings: Gets the errors.
        definitions: The types by address.
        port_uses: Uses outside of definitions.
        early_uses: Uses before the definition.
    """

    main_file: str
    files: FileSet | None
    findings: Findings
    definitions: dict[_Address, _Definition] = field(default_factory=dict)
    port_uses: _Uses = field(default_factory=list)
    early_uses: _Uses = field(default_factory=list)

    def rename_process(
        self, body: CommentedMap, scope: _Path, inherited_types: _VisibleTypes
    ) -> None:
        """Rename the types in a process and in the processes that its steps run.

        Args:
            body: The process, which is changed.
            scope: The path of the owner of the process.
            inherited_types: The types that are passed on to it.
        """
        path = _path(scope, body.get("id"))
        visible = self._read_owner(body, path, inherited_types)
        for kind in ("inputs", "outputs"):
            self._rename_members(body.get(kind), _TypeContext(path, visible, self.port_uses))
        for step in named_nodes(body.get("steps")):
            run = None if step.body is None else step.body.get("run")
            if step.body is not None and isinstance(run, CommentedMap):
                run_path = (*_path(path, step.name), "run")
                passed_types = self._read_owner(step.body, run_path[:-1], visible)
                self.rename_process(
                    run, run_path if _file(run) == _file(step.body) else (), passed_types
                )

    def _read_owner(
        self, owner: CommentedMap, path: _Path, inherited_types: _VisibleTypes
    ) -> _VisibleTypes:
        """Return the types that apply in a process or a step.

        If it has its own types, only these apply.
        """
        declared, defined_names = self.declare(owner, path), set[str]()
        for types in own_type_lists(owner):
            for body in types_with_names(types):
                definition = declared[self._address(body, path, owner)]
                body["name"] = definition.name
                uses: _Uses = []
                self._rename_structure(body, _TypeContext(definition.address.path, declared, uses))
                definition.uses = definition.uses or uses
                defined_names.add(definition.name)
                self.early_uses += [
                    (used, place) for used, place in uses if used.name not in defined_names
                ]
        return declared or inherited_types

    def declare(self, owner: CommentedMap, path: _Path) -> dict[_Address, _Definition]:
        """Register the types of a process or a step, and return them by address."""
        declared: dict[_Address, _Definition] = {}
        for types in own_type_lists(owner):
            for body in types_with_names(types):
                address = self._address(body, path, owner)
                if address in declared:
                    self.findings.error(
                        text_place(body, "name"),
                        f"there are two types named {quoted(declared[address].short)} here",
                    )
                if address not in self.definitions:
                    name = self._new_name(address, _file(body))
                    self.definitions[address] = _Definition(
                        _file(body), address, name, count_values(body)
                    )
                declared[address] = self.definitions[address]
        return declared

    def _address(self, body: CommentedMap, path: _Path, owner: CommentedMap) -> _Address:
        scope = path if _file(body) == _file(owner) else ()
        return _Address(self._identity(_file(body)), _path(scope, body["name"]))

    def _new_name(self, address: _Address, key: str) -> str:
        """Return the new name of a type. Outside the main file it contains the file's name."""
        path = "/".join(address.path)
        if key == self.main_file:
            return f"#{path}"
        used_names = {definition.name for definition in self.definitions.values()}
        names = (
            f"#{os.path.basename(key)}{number or ''}/{path}"
            for number in range(len(used_names) + 1)
        )
        return next(name for name in names if name not in used_names)

    def _identity(self, key: str) -> str:
        return key if self.files is None else self.files.identity(key)

    def _rename_members(self, node: Any, within: _TypeContext) -> None:
        """Rename the types of the ports of a process, or of the fields of a record."""
        if isinstance(node, CommentedMap):
            for name in node:
                if not name.startswith("$"):
                    self._rename_type(node, name, within.enter_member(name))
        elif isinstance(node, CommentedSeq):
            for index, item in enumerate(node):
                if isinstance(item, CommentedMap):
                    self._rename_type(
                        node, index, within.enter_member(item.get("id", item.get("name")))
                    )

    def _rename_type(self, node: Any, key: str | int, within: _TypeContext) -> None:
        kind = node[key]
        if isinstance(kind, str):
            node[key] = self._resolve_name(node, key, within)
        elif isinstance(kind, CommentedSeq):
            for index in range(len(kind)):
                self._rename_type(kind, index, within)
        elif isinstance(kind, CommentedMap):
            self._rename_structure(kind, within)

    def _rename_structure(self, node: CommentedMap, within: _TypeContext) -> None:
        match node.get("type"):
            case "array" if "items" in node:
                self._rename_type(node, "items", within)
            case "record":
                self._rename_members(node.get("fields"), within)
            case "enum" | None:
                return
            case _:
                self._rename_type(node, "type", within)

    def _resolve_name(self, node: Any, key: str | int, within: _TypeContext) -> str:
        name: str = node[key]
        bare, suffix = split_suffix(name)
        if bare in _BUILTIN_TYPES or not within.visible:
            return name
        address = next(
            (
                candidate
                for candidate in self._candidates(bare, _file(node), within.path)
                if candidate in within.visible
            ),
            None,
        )
        if address is None:
            known_names = {
                *PRIMITIVES,
                *(_relative_name(visible, _file(node)) for visible in within.visible.values()),
            }
            self.findings.error(
                text_place(node, key),
                f"there is no type {quoted(bare)}{suggest_or_list(bare, known_names)}",
            )
            return "Any"
        within.uses.append((within.visible[address], text_place(node, key)))
        return within.visible[address].name + suffix

    def _candidates(self, bare: str, file: str, scope: _Path) -> Iterator[_Address]:
        """Yield the addresses that a name may mean. Without ``#``, outer scopes are tried, too."""
        base, absolute, fragment = bare.partition("#")
        if absolute:
            try:
                key = self.files.find(file, base) if base and self.files is not None else file
            except FileRefused:
                return
            yield _Address(self._identity(key), tuple(fragment.split("/")))
            return
        for end in range(max(len(scope) - 2, 0), -1, -1):
            yield _Address(self._identity(file), (*scope[:end], *bare.split("/")))

    def can_be_expanded(self) -> bool:
        """Return whether all types can be written out, and report why not."""
        try:
            self._check_expanded_sizes()
        except _UnexpandableType as error:
            self.findings.error(error.place, f"{error}")
            return False
        for used, place in self.early_uses:
            self.findings.error(
                place, f"the type {quoted(used.short)} is defined after what uses it: put it before"
            )
        return True

    def _check_expanded_sizes(self) -> None:
        sizes: dict[str, _ExpandedSize] = {}
        for definition in self.definitions.values():
            self._measure(definition, sizes, ())
        total_values = 0
        for definition, place in self.port_uses:
            total_values += sizes[definition.name].values
            if total_values > MAX_NODES:
                raise _UnexpandableType(
                    place,
                    f"more than {MAX_NODES} values with the types up to here: too many"
                    " for a template",
                )

    def _measure(
        self, definition: _Definition, sizes: dict[str, _ExpandedSize], outer_names: tuple[str, ...]
    ) -> _ExpandedSize:
        """Return the size of a type that is written out.

        Args:
            definition: The type.
            sizes: The known sizes by name.
            outer_names: The names of the types around it.

        Raises:
            _UnexpandableType: The type contains itself or is nested too deeply.
        """
        if definition.name in sizes:
            return sizes[definition.name]
        names = (*outer_names, definition.name)
        values, levels = definition.values, 0
        for used, place in definition.uses:
            if used.name in names:
                advice = "write 'Any' here, and let the tool check it"
                raise _UnexpandableType(
                    place,
                    f"the type {quoted(used.short)} contains itself, which is not supported:"
                    f" {advice}",
                )
            size = self._measure(used, sizes, names) if len(names) <= MAX_TYPE_LEVELS else None
            if size is None or size.levels >= MAX_TYPE_LEVELS:
                raise _UnexpandableType(
                    place,
                    f"more than {MAX_TYPE_LEVELS} types are nested up to here: too many"
                    " for a template",
                )
            values, levels = values + size.values, max(levels, size.levels + 1)
        sizes[definition.name] = _ExpandedSize(values, levels)
        return sizes[definition.name]


def _file(node: Any) -> str:
    return str(getattr(node.lc, "filename", None) or "")


def _relative_name(definition: _Definition, file: str) -> str:
    """Return a type's name as it is used in ``file``."""
    path = "/".join(definition.address.path)
    base = (
        ""
        if definition.key == file
        else os.path.relpath(definition.key, os.path.dirname(file) or ".")
    )
    return f"{base}#{path}"
