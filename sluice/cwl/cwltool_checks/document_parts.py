"""Division of a document into parts, so that the schema check finds every error.

The schema check reports only the first wrong item of a list.
"""

from collections.abc import Iterator
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

#: Lists of a process or a step. The schema check reports only the first wrong item of each list.
_LISTS = ("requirements", "hints", "inputs", "outputs", "steps", "in")
#: Fields that every part keeps, so that it is complete.
_REQUIRED_FIELDS = frozenset({*_LISTS, "class", "cwlVersion", "expression", "id", "out", "run"})


def parts(node: CommentedMap) -> Iterator[CommentedMap]:
    """Yield the parts of a process whose checks together find all errors.

    The first part has all lists empty. Each further part has one item of one list. Steps and their
    tools are divided the same way. Each part takes about as long to check as its item.
    """
    yield _emptied(node)
    skeleton = _emptied(node, required_only=True)
    for key in _LISTS:
        items = node.get(key)
        for index, item in enumerate(items) if isinstance(items, CommentedSeq) else ():
            is_step = key == "steps" and isinstance(item, CommentedMap)
            for part in parts(item) if is_step else (item,):
                yield _with_field(skeleton, key, _shortened_list(items, index, part))
    if isinstance(node.get("run"), CommentedMap):
        for part in parts(node["run"]):
            yield _with_field(skeleton, "run", part)


def _emptied(node: CommentedMap, *, required_only: bool = False) -> CommentedMap:
    """Return a copy with empty lists.

    Args:
        node: The process or step.
        required_only: Whether to keep only the fields that every part needs.
    """
    empty = node.copy()
    for key in list(empty):
        if required_only and key not in _REQUIRED_FIELDS:
            del empty[key]
        elif key in _LISTS and isinstance(empty[key], CommentedSeq):
            empty[key] = _shortened_list(empty[key])
        elif key == "run" and isinstance(empty[key], CommentedMap):
            empty[key] = _emptied(empty[key], required_only=True)
    return empty


def _with_field(node: CommentedMap, key: str, value: Any) -> CommentedMap:
    changed = node.copy()
    changed[key] = value
    return changed


def _shortened_list(items: CommentedSeq, index: int = 0, *items_to_keep: Any) -> CommentedSeq:
    """Return a list at the place of ``items`` with only ``items_to_keep``, which were at ``index``.

    Args:
        items: The list that is shortened.
        index: The former index of the item that is kept.
        items_to_keep: The item that is kept, or nothing.
    """
    shortened = CommentedSeq(items_to_keep)
    shortened.lc.line, shortened.lc.col, shortened.lc.filename = (
        items.lc.line,
        items.lc.col,
        getattr(items.lc, "filename", None),
    )
    shortened.lc.data = (
        {0: items.lc.data[index]}
        if items_to_keep and items.lc.data and index in items.lc.data
        else {}
    )
    return shortened
