"""Definitions of named types, and types with the definitions in place of names."""

from collections.abc import Iterator, Mapping
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from sluice.cwl.reading.nodes import mappings, named_nodes

_REQUIREMENT = "SchemaDefRequirement"


def types_of(root: CommentedMap) -> dict[str, CommentedMap]:
    """Return the types of a document by their absolute names."""
    found = (body for types in lists_of_types(root) for body in with_names(types))
    return {body["name"]: body for body in found}


def written_out(kind: Any, types: Mapping[str, CommentedMap]) -> Any:
    """Return ``kind`` with ``types`` in place of their names. No type may contain itself."""
    match kind:
        case str() if types:
            bare, suffix = bare_name(kind)
            inner = (
                {key: value for key, value in types[bare].items() if key != "name"}
                if bare in types
                else None
            )
            return kind if inner is None else _suffixed(written_out(inner, types), suffix)
        case list():
            return [written_out(member, types) for member in kind]
        case Mapping():
            return {
                key: _fields_written_out(value, types)
                if key == "fields" and kind.get("type") == "record"
                else written_out(value, types)
                if key in ("type", "items")
                else value
                for key, value in kind.items()
            }
    return kind


def _fields_written_out(fields: Any, types: Mapping[str, CommentedMap]) -> Any:
    if isinstance(fields, Mapping):
        return {name: written_out(kind, types) for name, kind in fields.items()}
    return written_out(fields, types)


def bare_name(written: str) -> tuple[str, str]:
    """Split ``opts.yml#Opts[]?`` into the name ``opts.yml#Opts`` and the suffix ``[]?``."""
    bare = written
    while bare.endswith(("?", "[]")):
        bare = bare.removesuffix("?") if bare.endswith("?") else bare.removesuffix("[]")
    return bare, written[len(bare) :]


def _suffixed(kind: Any, suffix: str) -> Any:
    while suffix:
        kind = ["null", kind] if suffix.startswith("?") else {"type": "array", "items": kind}
        suffix = suffix.removeprefix("?") if suffix.startswith("?") else suffix.removeprefix("[]")
    return kind


def lists_of_types(root: CommentedMap) -> Iterator[CommentedSeq]:
    """Yield the lists of types in the whole document."""
    for node in mappings(root):
        yield from own_lists_of_types(node)


def own_lists_of_types(owner: CommentedMap) -> Iterator[CommentedSeq]:
    """Yield the lists of types of a process or a step, from its requirements first."""
    for kind in ("requirements", "hints"):
        for entry in named_nodes(owner.get(kind), "class"):
            if (
                entry.name == _REQUIREMENT
                and entry.body is not None
                and isinstance(entry.body.get("types"), CommentedSeq)
            ):
                yield entry.body["types"]


def with_names(types: CommentedSeq) -> list[CommentedMap]:
    """Return the types that have a name."""
    return [
        body
        for body in types
        if isinstance(body, CommentedMap) and isinstance(body.get("name"), str)
    ]
