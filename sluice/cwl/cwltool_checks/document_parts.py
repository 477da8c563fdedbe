"""Division of a document into parts, so that the schema check finds every error.

The schema check reports only the first wrong item of a list.
"""

from collections.abc import Iterator
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

#: Lists of a process or a step, of which the schema check reports the first wrong item only.
_LISTS = ("requirements", "hints", "inputs", "outputs", "steps", "in")
#: Fields that every part keeps, so that it is complete.
_BONES = frozenset({*_LISTS, "class", "cwlVersion", "expression", "id", "out", "run"})


def parts(node: CommentedMap) -> Iterator[CommentedMap]:
    """Yield the parts of a process whose checks together find all errors.

    The first part has all lists empty. Each further part has one item of one list. Steps and their
    tools are divided the same way. Each part takes about as long to check as its item.
    """
    yield _emptied(node)
    bones = _emptied(node, bones=True)
    for key in _LISTS:
        items = node.get(key)
        for index, item in enumerate(items) if isinstance(items, CommentedSeq) else ():
            is_step = key == "steps" and isinstance(item, CommentedMap)
            for part in parts(item) if is_step else (item,):
                yield _with(bones, key, _some(items, index, part))
    if isinstance(node.get("run"), CommentedMap):
        for part in parts(node["run"]):
            yield _with(bones, "run", part)


def _emptied(node: CommentedMap, *, bones: bool = False) -> CommentedMap:
    """Return a copy with empty lists.

    Args:
        node: The process or step.
        bones: Whether to keep only what a part needs.
    """
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
    """Return a list at the place of ``items`` with only ``kept``, which stood at ``index``."""
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
