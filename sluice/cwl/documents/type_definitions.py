"""Definitions of named types, and types with the definitions in place of names."""

from collections.abc import Iterator, Mapping
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from sluice.cwl.reading.nodes import mappings, named_nodes

_REQUIREMENT = "SchemaDefRequirement"


def collect_types(root: CommentedMap) -> dict[str, CommentedMap]:
    """Return the types of a document by their absolute names."""
    bodies = (body for types in type_lists(root) for body in types_with_names(types))
    return {body["name"]: body for body in bodies}


def expand_types(kind: Any, types: Mapping[str, CommentedMap]) -> Any:
    """Return ``kind`` with ``types`` in place of their names. No type may contain itself."""
    match kind:
        case str() if types:
            bare, suffix = split_suffix(kind)
            definition = (
                {key: value for key, value in types[bare].items() if key != "name"}
                if bare in types
                else None
            )
            return (
                kind if definition is None else _add_suffix(expand_types(definition, types), suffix)
            )
        case list():
            return [expand_types(member, types) for member in kind]
        case Mapping():
            return {
                key: _expand_field_types(value, types)
                if key == "fields" and kind.get("type") == "record"
                else expand_types(value, types)
                if key in ("type", "items")
                else value
                for key, value in kind.items()
            }
    return kind


def _expand_field_types(fields: Any, types: Mapping[str, CommentedMap]) -> Any:
    if isinstance(fields, Mapping):
        return {name: expand_types(kind, types) for name, kind in fields.items()}
    return expand_types(fields, types)


def split_suffix(name: str) -> tuple[str, str]:
    """Split ``opts.yml#Opts[]?`` into the name ``opts.yml#Opts`` and the suffix ``[]?``."""
    bare = name
    while bare.endswith(("?", "[]")):
        bare = bare.removesuffix("?") if bare.endswith("?") else bare.removesuffix("[]")
    return bare, name[len(bare) :]


def _add_suffix(kind: Any, suffix: str) -> Any:
    while suffix:
        kind = ["null", kind] if suffix.startswith("?") else {"type": "array", "items": kind}
        suffix = suffix.removeprefix("?") if suffix.startswith("?") else suffix.removeprefix("[]")
    return kind


def type_lists(root: CommentedMap) -> Iterator[CommentedSeq]:
    """Yield the lists of types in the whole document."""
    for node in mappings(root):
        yield from own_type_lists(node)


def own_type_lists(owner: CommentedMap) -> Iterator[CommentedSeq]:
    """Yield the lists of types of a process or a step, from its requirements first."""
    for kind in ("requirements", "hints"):
        for entry in named_nodes(owner.get(kind), "class"):
            if (
                entry.name == _REQUIREMENT
                and entry.body is not None
                and isinstance(entry.body.get("types"), CommentedSeq)
            ):
                yield entry.body["types"]


def types_with_names(types: CommentedSeq) -> list[CommentedMap]:
    """Return the types that have a name."""
    return [
        body
        for body in types
        if isinstance(body, CommentedMap) and isinstance(body.get("name"), str)
    ]
