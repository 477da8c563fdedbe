"""Walking and copying documents (ruamel's commented containers) without losing places."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from sluice.cwl.findings import Findings, Place, place_of


def clone(node: Any) -> Any:
    """A copy with its places, in which nothing is shared with the original."""
    if isinstance(node, CommentedMap):
        copy: Any = CommentedMap((key, clone(value)) for key, value in node.items())
    elif isinstance(node, CommentedSeq):
        copy = CommentedSeq(clone(item) for item in node)
    else:
        return node
    copy.lc.line, copy.lc.col, copy.lc.data = node.lc.line, node.lc.col, dict(node.lc.data or {})
    copy.lc.filename = node.lc.filename
    return copy


def count_values(node: Any) -> int:
    """Values in ``node``, itself among them; what an alias repeats counts each time."""
    if isinstance(node, dict):
        return 1 + len(node) + sum(count_values(value) for value in node.values())
    if isinstance(node, list):
        return 1 + sum(count_values(item) for item in node)
    return 1


def plain(node: Any) -> Any:
    """As plain JSON values."""
    if isinstance(node, dict):
        return {str(key): plain(value) for key, value in node.items()}
    if isinstance(node, list):
        return [plain(item) for item in node]
    return node


def processes_inside(process: CommentedMap) -> Iterator[tuple[CommentedMap, CommentedMap]]:
    """(step, what it runs) of a workflow and of all workflows in it."""
    for step in entries(process.get("steps")):
        run = None if step.body is None else step.body.get("run")
        if step.body is not None and isinstance(run, CommentedMap):
            yield step.body, run
            yield from processes_inside(run)


def mappings(node: Any) -> Iterator[CommentedMap]:
    """Every mapping in ``node``, itself first."""
    if isinstance(node, CommentedMap):
        yield node
        for value in node.values():
            yield from mappings(value)
    elif isinstance(node, CommentedSeq):
        for item in node:
            yield from mappings(item)


def put(node: CommentedMap, key: str, value: Any, like: Place) -> None:
    """Sets a key that the text does not have, with the place of what stands for it."""
    node[key] = value
    node.lc.data[key] = [like[0] - 1, like[1] - 1, like[0] - 1, like[1] - 1]


@dataclass(frozen=True, slots=True)
class Entry:
    """One named thing of a collection, which CWL lets one write as a list or a mapping. ``body``: None where it is no object."""

    name: str
    place: Place
    body: CommentedMap | None
    #: What was written, where that was not an object (``raw: frames``).
    value: Any = None


def short_name(identifier: str) -> str:
    """``#main/decode/raw`` → ``raw``."""
    return identifier.rsplit("#", 1)[-1].rsplit("/", 1)[-1]


def entries(node: Any, key_field: str = "id") -> list[Entry]:
    """The entries of a collection in document order. What is malformed is left out: the schema's check tells of it."""
    found: list[Entry] = []
    if isinstance(node, CommentedMap):
        for key, value in node.items():
            found.append(Entry(key, place_of(node, key), *((value, None) if isinstance(value, CommentedMap) else (None, value))))
    elif isinstance(node, CommentedSeq):
        for index, item in enumerate(node):
            place = place_of(node, index)
            if isinstance(item, str):
                found.append(Entry(short_name(item), place, None, None))
            elif isinstance(item, CommentedMap) and isinstance(item.get(key_field), str):
                name = short_name(item[key_field]) if key_field == "id" else item[key_field]
                found.append(Entry(name, place, item))
    return found


def refuse_duplicates(found: list[Entry], what: str, findings: Findings) -> None:
    """Mappings cannot hold duplicates (the reader saw to it); lists can."""
    first: dict[str, Place] = {}
    for entry in found:
        if entry.name in first:
            findings.error(entry.place, f"there are two {what} named '{entry.name}'; the first is in line {first[entry.name][0]}")
        else:
            first[entry.name] = entry.place
