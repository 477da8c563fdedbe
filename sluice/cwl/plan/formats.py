"""Formats of files, which no job needs and which the catalogue does not keep.

A tool input with a format would refuse every file, because files come without formats. Formats of
outputs stay.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from sluice.cwl.plan.process_versions import steps_of
from sluice.cwl.properties.requirements import expanded


def without_formats(process: dict[str, Any], namespaces: Mapping[str, str]) -> dict[str, Any]:
    """Remove the formats of inputs from a process and from the tools inside.

    Formats of outputs become full addresses.
    """
    for port in _ports(process.get("inputs")):
        _drop(port)
    for requirement in _ports(process.get("requirements")):
        _drop(requirement.get("types"))
    for port in _ports(process.get("outputs")):
        if isinstance(port.get("format"), str):
            port["format"] = expanded(port["format"], dict(namespaces))
    for step in steps_of(process):
        if isinstance(step.get("run"), dict):
            without_formats(step["run"], namespaces)
    return process


def _ports(collection: Any) -> Iterator[dict[str, Any]]:
    found = collection.values() if isinstance(collection, dict) else collection or ()
    return (port for port in found if isinstance(port, dict))


def _drop(node: Any) -> None:
    """Remove the formats of a port and of the records in its type. A default stays as it is."""
    if isinstance(node, list):
        for inner in node:
            _drop(inner)
    elif isinstance(node, dict):
        node.pop("format", None)
        for key in ("type", "items"):
            _drop(node.get(key))
        for field in _ports(node.get("fields")):
            _drop(field)
