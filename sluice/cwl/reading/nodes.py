"""Functions that walk and copy documents (ruamel's commented containers) and keep places."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from sluice.cwl.reading.findings import Findings, TextPlace, text_place
from sluice.text.identifiers import local_name
from sluice.text.visible_text import quoted


def clone(node: Any) -> Any:
    """Return a deep copy with its places."""
    if isinstance(node, CommentedMap):
        copy: Any = CommentedMap((key, clone(value)) for key, value in node.items())
    elif isinstance(node, CommentedSeq):
        copy = CommentedSeq(clone(item) for item in node)
    else:
        return node
    copy.lc.line, copy.lc.col, copy.lc.data = node.lc.line, node.lc.col, dict(node.lc.data or {})
    # Nodes that the compiler added have no file name.
    copy.lc.filename = getattr(node.lc, "filename", None)
    return copy


def count_values(node: Any) -> int:
    """Return the number of values in ``node`` with itself. Repeated aliases count each time."""
    if isinstance(node, dict):
        return 1 + len(node) + sum(count_values(value) for value in node.values())
    if isinstance(node, list):
        return 1 + sum(count_values(item) for item in node)
    return 1


def nesting_depth(node: Any) -> int:
    """Return the number of levels of lists and mappings in ``node``."""
    inner = node.values() if isinstance(node, dict) else node if isinstance(node, list) else None
    return 0 if inner is None else 1 + max(map(nesting_depth, inner), default=0)


def plain_json(node: Any) -> Any:
    """Return the node as plain JSON values."""
    if isinstance(node, dict):
        return {str(key): plain_json(value) for key, value in node.items()}
    if isinstance(node, list):
        return [plain_json(item) for item in node]
    return node


def processes_inside(process: CommentedMap) -> Iterator[tuple[CommentedMap, CommentedMap]]:
    """Yield (step, process) for all steps of a workflow and of the workflows in it."""
    for step in named_nodes(process.get("steps")):
        run = None if step.body is None else step.body.get("run")
        if step.body is not None and isinstance(run, CommentedMap):
            yield step.body, run
            yield from processes_inside(run)


def mappings(node: Any) -> Iterator[CommentedMap]:
    """Yield every mapping in ``node``, itself first."""
    if isinstance(node, CommentedMap):
        yield node
        for value in node.values():
            yield from mappings(value)
    elif isinstance(node, CommentedSeq):
        for item in node:
            yield from mappings(item)


def put_at(node: CommentedMap, key: str, value: Any, place: TextPlace) -> None:
    """Set a key that is not in the text, with the place of what it replaces."""
    node[key] = value
    node.lc.add_kv_line_col(key, [place[0] - 1, place[1] - 1, place[0] - 1, place[1] - 1])


def map_at(place: TextPlace, items: Mapping[str, Any]) -> CommentedMap:
    """Return a mapping of plain values whose parts all have the same place."""
    node = CommentedMap()
    node.lc.line, node.lc.col, node.lc.data = place.line - 1, place.column - 1, {}
    node.lc.filename = place.file
    for key, value in items.items():
        put_at(node, key, node_at(place, value), place)
    return node


def node_at(place: TextPlace, value: Any) -> Any:
    """Return plain values as ruamel's containers, at a place."""
    if isinstance(value, CommentedMap | CommentedSeq):
        return value
    if isinstance(value, Mapping):
        return map_at(place, value)
    if isinstance(value, list):
        items = CommentedSeq(node_at(place, item) for item in value)
        items.lc.line, items.lc.col, items.lc.data = place.line - 1, place.column - 1, {}
        return items
    return value


@dataclass(frozen=True, slots=True)
class NamedNode:
    """A named entry of a collection, which CWL allows as a list or a mapping.

    ``body`` is None if the entry is not an object.
    """

    name: str
    place: TextPlace
    body: CommentedMap | None
    #: The value if it is not an object (``raw: frames``).
    value: Any = None


def named_nodes(node: Any, key_field: str = "id") -> list[NamedNode]:
    """Return the entries of a collection in the order of the document.

    Malformed entries are left out, because the schema check reports them.
    """
    nodes: list[NamedNode] = []
    if isinstance(node, CommentedMap):
        for key, value in node.items():
            nodes.append(
                NamedNode(
                    key,
                    text_place(node, key),
                    *((value, None) if isinstance(value, CommentedMap) else (None, value)),
                )
            )
    elif isinstance(node, CommentedSeq):
        for index, item in enumerate(node):
            place = text_place(node, index)
            if isinstance(item, str):
                nodes.append(NamedNode(local_name(item), place, None, None))
            elif isinstance(item, CommentedMap) and isinstance(item.get(key_field), str):
                name = local_name(item[key_field]) if key_field == "id" else item[key_field]
                nodes.append(NamedNode(name, place, item))
    return nodes


def find_identified(root: Any, identifier: str) -> CommentedMap | None:
    """Return the mapping whose ``id`` or ``name`` is an identifier, or None."""
    for node in mappings(root):
        if any(
            isinstance(node.get(key), str) and node[key].rpartition("#")[2] == identifier
            for key in ("id", "name")
        ):
            return node
    return None


def as_list(value: Any) -> list[Any]:
    """Return the list that CWL also allows as a single value."""
    return list(value) if isinstance(value, CommentedSeq) else [] if value is None else [value]


def refuse_duplicates(entries: list[NamedNode], kinds: str, findings: Findings) -> None:
    """Report duplicate names in lists. The reader has reported those in mappings."""
    first_places: dict[str, TextPlace] = {}
    for entry in entries:
        if entry.name in first_places:
            findings.error(
                entry.place,
                f"there are two {kinds} named {quoted(entry.name)}; the first is in line"
                f" {first_places[entry.name][0]}",
            )
        else:
            first_places[entry.name] = entry.place
