"""Formats of files, which no job needs and which the catalogue does not keep.

A tool input with a format would refuse every file, because files come without formats. Formats of
outputs stay.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from sluice.cwl.plan.process_versions import process_steps
from sluice.cwl.properties.requirements import expand_prefix


def without_formats(process: dict[str, Any], namespaces: Mapping[str, str]) -> dict[str, Any]:
    """Remove the formats of inputs from a process and from the tools inside.

    Formats of outputs become full addresses.
    """
    for port in _mappings_in(process.get("inputs")):
        _remove_formats(port)
    for requirement in _mappings_in(process.get("requirements")):
        _remove_formats(requirement.get("types"))
    for port in _mappings_in(process.get("outputs")):
        if isinstance(port.get("format"), str):
            port["format"] = expand_prefix(port["format"], dict(namespaces))
    for step in process_steps(process):
        if isinstance(step.get("run"), dict):
            without_formats(step["run"], namespaces)
    return process


def _mappings_in(collection: Any) -> Iterator[dict[str, Any]]:
    items = collection.values() if isinstance(collection, dict) else collection or ()
    return (port for port in items if isinstance(port, dict))


def _remove_formats(node: Any) -> None:
    """Remove the formats of a port and of the records in its type. A default stays as it is."""
    if isinstance(node, list):
        for inner in node:
            _remove_formats(inner)
    elif isinstance(node, dict):
        node.pop("format", None)
        for key in ("type", "items"):
            _remove_formats(node.get(key))
        for field in _mappings_in(node.get("fields")):
            _remove_formats(field)
