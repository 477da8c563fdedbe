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
    bare_name,
    lists_of_types,
    own_lists_of_types,
    with_names,
)
from sluice.cwl.documents.types import MAX_TYPE_LEVELS, PRIMITIVES, STREAMS
from sluice.cwl.reading.files import FileRefused, FileSet
from sluice.cwl.reading.findings import Findings, TextPlace, did_you_mean, text_place
from sluice.cwl.reading.nodes import clone, count_values, named_nodes
from sluice.cwl.reading.yaml_text import MAX_NODES
from sluice.text.visible_text import quoted

_KNOWN = PRIMITIVES | STREAMS

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
    if not isinstance(root, CommentedMap) or next(lists_of_types(root), None) is None:
        return root
    whole: CommentedMap = clone(root)
    reader = _Reader(whole.lc.filename, files, findings)
    if "$graph" in whole:
        processes = [entry.body for entry in named_nodes(whole["$graph"]) if entry.body is not None]
        # A process that runs a process of the graph may pass its types on to it.
        for process in processes:
            reader.declare(process, _path((), process.get("id")))
        around = dict(reader.defined)
        for process in processes:
            reader.process(process, (), around)
    else:
        reader.process(whole, (), {})
    return whole if reader.can_be_written_out() else None


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


_Visible = Mapping[_Address, _Definition]
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
    visible: _Visible
    uses: _Uses

    def at(self, name: Any) -> "_TypeContext":
        """Return the context for a member of the owner."""
        return replace(self, path=_path(self.path, name))


@dataclass(frozen=True, slots=True)
class _Extent:
    """The size of a type that is written out. ``levels`` is the depth of named types in it."""

    values: int
    levels: int


class _TooMuch(Exception):
    """A type cannot be written out. The message says why."""

    def __init__(self, place: TextPlace, message: str) -> None:
        super().__init__(message)
        self.place = place


@dataclass(slots=True)
class _Reader:
    """Reads a document and renames its types.

    Attributes:
        first: The key of the file whose names do not change.
        files: The files of the document's parts, or None.
        findings: Gets the errors.
        defined: The types by address.
        users: Uses outside of definitions.
        early: Uses before the definition.
    """

    first: str
    files: FileSet | None
    findings: Findings
    defined: dict[_Address, _Definition] = field(default_factory=dict)
    users: _Uses = field(default_factory=list)
    early: _Uses = field(default_factory=list)

    def process(self, body: CommentedMap, scope: _Path, around: _Visible) -> None:
        """Rename the types in a process and in what its steps run.

        Args:
            body: The process, which is changed.
            scope: The path of what it is written in.
            around: The types that are passed on to it.
        """
        path = _path(scope, body.get("id"))
        visible = self._owner(body, path, around)
        for kind in ("inputs", "outputs"):
            self._members(body.get(kind), _TypeContext(path, visible, self.users))
        for step in named_nodes(body.get("steps")):
            run = None if step.body is None else step.body.get("run")
            if step.body is not None and isinstance(run, CommentedMap):
                inside = (*_path(path, step.name), "run")
                handed = self._owner(step.body, inside[:-1], visible)
                self.process(run, inside if _file(run) == _file(step.body) else (), handed)

    def _owner(self, owner: CommentedMap, path: _Path, around: _Visible) -> _Visible:
        """Return the types that apply in a process or a step.

        If it has types of its own, only these apply.
        """
        declared, earlier = self.declare(owner, path), set[str]()
        for types in own_lists_of_types(owner):
            for body in with_names(types):
                definition = declared[self._address_of(body, path, owner)]
                body["name"] = definition.name
                uses: _Uses = []
                self._structure(body, _TypeContext(definition.address.path, declared, uses))
                definition.uses = definition.uses or uses
                earlier.add(definition.name)
                self.early += [(used, place) for used, place in uses if used.name not in earlier]
        return declared or around

    def declare(self, owner: CommentedMap, path: _Path) -> dict[_Address, _Definition]:
        """Register the types of a process or a step, and return them by address."""
        found: dict[_Address, _Definition] = {}
        for types in own_lists_of_types(owner):
            for body in with_names(types):
                address = self._address_of(body, path, owner)
                if address in found:
                    self.findings.error(
                        text_place(body, "name"),
                        f"there are two types named {quoted(found[address].short)} here",
                    )
                if address not in self.defined:
                    name = self._new_name(address, _file(body))
                    self.defined[address] = _Definition(
                        _file(body), address, name, count_values(body)
                    )
                found[address] = self.defined[address]
        return found

    def _address_of(self, body: CommentedMap, path: _Path, owner: CommentedMap) -> _Address:
        scope = path if _file(body) == _file(owner) else ()
        return _Address(self._identity(_file(body)), _path(scope, body["name"]))

    def _new_name(self, address: _Address, key: str) -> str:
        """Return the new name of a type: its own in the first file, else with the file's name."""
        path = "/".join(address.path)
        if key == self.first:
            return f"#{path}"
        taken = {definition.name for definition in self.defined.values()}
        names = (
            f"#{os.path.basename(key)}{number or ''}/{path}" for number in range(len(taken) + 1)
        )
        return next(name for name in names if name not in taken)

    def _identity(self, key: str) -> str:
        return key if self.files is None else self.files.identity(key)

    def _members(self, node: Any, within: _TypeContext) -> None:
        """Rename the types of the ports of a process, or of the fields of a record."""
        if isinstance(node, CommentedMap):
            for name in node:
                if not name.startswith("$"):
                    self._type(node, name, within.at(name))
        elif isinstance(node, CommentedSeq):
            for index, item in enumerate(node):
                if isinstance(item, CommentedMap):
                    self._type(node, index, within.at(item.get("id", item.get("name"))))

    def _type(self, node: Any, key: str | int, within: _TypeContext) -> None:
        written = node[key]
        if isinstance(written, str):
            node[key] = self._named(node, key, within)
        elif isinstance(written, CommentedSeq):
            for index in range(len(written)):
                self._type(written, index, within)
        elif isinstance(written, CommentedMap):
            self._structure(written, within)

    def _structure(self, node: CommentedMap, within: _TypeContext) -> None:
        match node.get("type"):
            case "array" if "items" in node:
                self._type(node, "items", within)
            case "record":
                self._members(node.get("fields"), within)
            case "enum" | None:
                return
            case _:
                self._type(node, "type", within)

    def _named(self, node: Any, key: str | int, within: _TypeContext) -> str:
        written: str = node[key]
        bare, suffix = bare_name(written)
        if bare in _KNOWN or not within.visible:
            return written
        address = next(
            (
                candidate
                for candidate in self._candidates(bare, _file(node), within.path)
                if candidate in within.visible
            ),
            None,
        )
        if address is None:
            known = {
                *PRIMITIVES,
                *(_as_written(visible, _file(node)) for visible in within.visible.values()),
            }
            self.findings.error(
                text_place(node, key), f"there is no type {quoted(bare)}{did_you_mean(bare, known)}"
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

    def can_be_written_out(self) -> bool:
        """Return whether all types can be written out, and report why not."""
        try:
            self._check_extents()
        except _TooMuch as error:
            self.findings.error(error.place, f"{error}")
            return False
        for used, place in self.early:
            self.findings.error(
                place, f"the type {quoted(used.short)} is defined after what uses it: put it before"
            )
        return True

    def _check_extents(self) -> None:
        extents: dict[str, _Extent] = {}
        for definition in self.defined.values():
            self._extent(definition, extents, ())
        together = 0
        for definition, place in self.users:
            together += extents[definition.name].values
            if together > MAX_NODES:
                raise _TooMuch(
                    place,
                    f"more than {MAX_NODES} values with the types up to here: too many"
                    " for a template",
                )

    def _extent(
        self, definition: _Definition, extents: dict[str, _Extent], inside: tuple[str, ...]
    ) -> _Extent:
        """Return the size of a type that is written out.

        Args:
            definition: The type.
            extents: The known sizes by name.
            inside: The names of the types around it.

        Raises:
            _TooMuch: The type contains itself or is nested too deeply.
        """
        if definition.name in extents:
            return extents[definition.name]
        inner = (*inside, definition.name)
        values, levels = definition.values, 0
        for used, place in definition.uses:
            if used.name in inner:
                way = "write 'Any' here, and let the tool check it"
                raise _TooMuch(
                    place,
                    f"the type {quoted(used.short)} contains itself, which is not supported: {way}",
                )
            extent = self._extent(used, extents, inner) if len(inner) <= MAX_TYPE_LEVELS else None
            if extent is None or extent.levels >= MAX_TYPE_LEVELS:
                raise _TooMuch(
                    place,
                    f"more than {MAX_TYPE_LEVELS} types lie in each other up to here: too many"
                    " for a template",
                )
            values, levels = values + extent.values, max(levels, extent.levels + 1)
        extents[definition.name] = _Extent(values, levels)
        return extents[definition.name]


def _file(node: Any) -> str:
    return str(getattr(node.lc, "filename", None) or "")


def _as_written(definition: _Definition, file: str) -> str:
    """Return a type's name as it is used in ``file``."""
    path = "/".join(definition.address.path)
    base = (
        ""
        if definition.key == file
        else os.path.relpath(definition.key, os.path.dirname(file) or ".")
    )
    return f"{base}#{path}"
