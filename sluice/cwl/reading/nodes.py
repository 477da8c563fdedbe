"""Walking and copying documents (ruamel's commented containers) without losing places."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from sluice.cwl.reading.findings import Findings, TextPlace, text_place


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


def depth_of(node: Any) -> int:
    """Levels of lists and mappings in ``node``."""
    inner = node.values() if isinstance(node, dict) else node if isinstance(node, list) else None
    return 0 if inner is None else 1 + max(map(depth_of, inner), default=0)


def plain_json(node: Any) -> Any:
    """As plain JSON values."""
    if isinstance(node, dict):
        return {str(key): plain_json(value) for key, value in node.items()}
    if isinstance(node, list):
        return [plain_json(item) for item in node]
    return node


def processes_inside(process: CommentedMap) -> Iterator[tuple[CommentedMap, CommentedMap]]:
    """(step, what it runs) of a workflow and of all workflows in it."""
    for step in named_nodes(process.get("steps")):
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


def put_at(node: CommentedMap, key: str, value: Any, like: TextPlace) -> None:
    """Sets a key that the text does not have, with the place of what stands for it."""
    node[key] = value
    node.lc.data[key] = [like[0] - 1, like[1] - 1, like[0] - 1, like[1] - 1]


@dataclass(frozen=True, slots=True)
class NamedNode:
    """One named thing of a collection, which CWL lets one write as a list or a mapping. ``body``:
    None where it is no object."""

    name: str
    place: TextPlace
    body: CommentedMap | None
    #: What was written, where that was not an object (``raw: frames``).
    value: Any = None


def local_name(identifier: str) -> str:
    """``#main/decode/raw`` → ``raw``."""
    return identifier.rsplit("#", 1)[-1].rsplit("/", 1)[-1]


def named_nodes(node: Any, key_field: str = "id") -> list[NamedNode]:
    """The entries of a collection in document order. What is malformed is left out: the schema's
    check tells of it."""
    found: list[NamedNode] = []
    if isinstance(node, CommentedMap):
        for key, value in node.items():
            found.append(
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
                found.append(NamedNode(local_name(item), place, None, None))
            elif isinstance(item, CommentedMap) and isinstance(item.get(key_field), str):
                name = local_name(item[key_field]) if key_field == "id" else item[key_field]
                found.append(NamedNode(name, place, item))
    return found


def listed(value: Any) -> list[Any]:
    """What CWL lets one write as a list, or alone."""
    return list(value) if isinstance(value, CommentedSeq) else [] if value is None else [value]


def refuse_duplicates(found: list[NamedNode], what: str, findings: Findings) -> None:
    """Mappings cannot hold duplicates (the reader saw to it); lists can."""
    first: dict[str, TextPlace] = {}
    for entry in found:
        if entry.name in first:
            findings.error(
                entry.place,
                f"there are two {what} named '{entry.name}'; the first is in line"
                f" {first[entry.name][0]}",
            )
        else:
            first[entry.name] = entry.place


#: Lists of a process or a step of which the schema's check tells the first wrong item alone.
_LISTS = ("requirements", "hints", "inputs", "outputs", "steps", "in")
#: What every part keeps, so that it is complete.
_BONES = frozenset({*_LISTS, "class", "cwlVersion", "expression", "id", "out", "run"})


def parts(node: CommentedMap) -> Iterator[CommentedMap]:
    """A process with its lists empty, then with one item of one of them at a time, and so on within
    steps and their tools.

    What is wrong in the whole is wrong in one of these; each takes about as long to check as its
    item.
    """
    yield _emptied(node)
    bones = _emptied(node, bones=True)
    for key in _LISTS:
        items = node.get(key)
        for index, item in enumerate(items) if isinstance(items, CommentedSeq) else ():
            for one in (
                parts(item) if key == "steps" and isinstance(item, CommentedMap) else (item,)
            ):
                yield _with(bones, key, _some(items, index, one))
    if isinstance(node.get("run"), CommentedMap):
        for one in parts(node["run"]):
            yield _with(bones, "run", one)


def _emptied(node: CommentedMap, *, bones: bool = False) -> CommentedMap:
    """``bones``: with nothing but what a part needs."""
    empty = node.copy()
    for key in list(empty):
        if bones and key not in _BONES:
            del empty[key]
        elif key in _LISTS and isinstance(empty[key], CommentedSeq):
            empty[key] = _some(empty[key])
        elif key == "run" and isinstance(empty[key], CommentedMap):
            empty[key] = _emptied(empty[key], bones=True)
    return empty


def _with(node: CommentedMap, key: str, value: Any) -> CommentedMap:
    changed = node.copy()
    changed[key] = value
    return changed


def _some(items: CommentedSeq, index: int = 0, *kept: Any) -> CommentedSeq:
    """A list at the place of ``items`` with nothing but ``kept``, which stood at ``index``."""
    found = CommentedSeq(kept)
    found.lc.line, found.lc.col, found.lc.filename = (
        items.lc.line,
        items.lc.col,
        getattr(items.lc, "filename", None),
    )
    found.lc.data = (
        {0: items.lc.data[index]} if kept and items.lc.data and index in items.lc.data else {}
    )
    return found
