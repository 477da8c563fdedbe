"""Ports of processes in plain JSON, and their types."""

from collections.abc import Iterator, Mapping
from typing import Any

from sluice.contracts.templates.secondary_files import read_patterns
from sluice.cwl.documents.types import normal_type
from sluice.text.identifiers import local_name

_STRUCTURES = ("array", "record", "enum")


def list_ports(declared_type: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name and the declaration of each input or output."""
    if isinstance(declared_type, dict):
        for name, port in declared_type.items():
            is_declaration = isinstance(port, dict) and port.get("type") not in _STRUCTURES
            yield name, port if is_declaration else {"type": port}
    else:
        for port in declared_type or ():
            yield (
                (local_name(port["id"]), port) if isinstance(port, dict) else (local_name(port), {})
            )


def collect_types(node: Any, types: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the named types that are defined in a document, by name."""
    types = {} if types is None else types
    if isinstance(node, dict):
        for kind in _list_definitions(node.get("requirements")):
            types[local_name(kind["name"])] = kind
        node = list(node.values())
    if isinstance(node, list):
        for inner in node:
            collect_types(inner, types)
    return types


def _list_definitions(requirements: Any) -> Iterator[dict[str, Any]]:
    name = "SchemaDefRequirement"
    bodies = (
        [requirements.get(name) or {}]
        if isinstance(requirements, dict)
        else [each for each in requirements or () if each.get("class") == name]
    )
    for body in bodies:
        yield from (kind for kind in body.get("types") or () if "name" in kind)


def choose_type(declared_type: Any, types: Mapping[str, Any]) -> tuple[Any, bool]:
    """Return the first alternative of a type that is not null, and whether null is another."""
    kind = normal_type(declared_type)
    alternatives = kind if isinstance(kind, list) else [kind]
    first = next((each for each in alternatives if each != "null"), "null")
    if isinstance(first, str) and local_name(first) in types:
        first, _ = choose_type(types[local_name(first)], types)
    return first, "null" in alternatives


def list_suffixes(port: Mapping[str, Any]) -> list[str]:
    """Return the patterns of the secondary files of a port."""
    patterns = read_patterns(port.get("secondaryFiles"))
    return [pattern.pattern for pattern in patterns if pattern is not None]


def list_symbols(kind: Mapping[str, Any]) -> list[str]:
    """Return the symbols of an enum."""
    return [local_name(symbol) for symbol in kind["symbols"]]
