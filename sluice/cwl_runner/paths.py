"""Paths of files in job orders.

A ``path`` is taken literally. cwltool reads it as a reference, which ends at ``#`` or ``?``.
"""

import json
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import yaml
from schema_salad.fetcher import DefaultFetcher
from schema_salad.ref_resolver import file_uri

_SIGNS = frozenset("#?%")


def fetcher_of(behind: list[str]) -> Callable[..., DefaultFetcher] | None:
    """Return a fetcher that lets cwltool take the paths in a job order literally.

    ``behind`` are the arguments after the process.

    Returns:
        None if there is no file with a job order, or if cwltool needs no help with it.
    """
    match behind:
        case [str() as order] if not order.startswith("-") and os.path.isfile(order):
            path = Path(os.path.abspath(order))
        case _:
            return None
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):  # cwltool reports it better
        return None
    escaped = with_paths_escaped(text, path.parent)
    return None if escaped == text else partial(_fetcher, {file_uri(str(path)): escaped})


def _fetcher(texts: dict[str, str], cache: dict[str, Any], session: Any) -> DefaultFetcher:
    return DefaultFetcher(cache | texts, session)


def with_paths_escaped(text: str, folder: Path) -> str:
    """Return a job order in ``folder`` with escapes in the paths of existing files.

    A path is escaped if a file has exactly this name. The rest of the text does not change.
    """
    if _SIGNS.isdisjoint(text):
        return text
    try:
        found = {
            node.start_mark.index: node
            for node in _paths(yaml.compose(text, yaml.CSafeLoader), set())
        }
    except yaml.YAMLError:  # cwltool reports it better
        return text
    parts, end = [], 0
    for start, node in sorted(found.items()):
        if not _SIGNS.isdisjoint(node.value) and os.path.exists(folder / node.value):
            parts += [text[end:start], json.dumps(quote(node.value))]
            end = node.end_mark.index
    return "".join([*parts, text[end:]])


def _paths(node: Any, seen: set[int]) -> Iterator[yaml.ScalarNode]:
    """Yield the paths of all Files and Directories without a location.

    ``seen`` has the nodes that were visited, because an alias leads to a node again.
    """
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for child in node.value:
            yield from _paths(child, seen)
    elif isinstance(node, yaml.MappingNode):
        fields = {key.value: value for key, value in node.value if isinstance(key, yaml.ScalarNode)}
        path, kind = fields.get("path"), fields.get("class")
        is_file = (
            kind is not None and kind.value in ("File", "Directory") and "location" not in fields
        )
        if is_file and isinstance(path, yaml.ScalarNode) and path.style not in ("|", ">"):
            yield path
        for child in fields.values():
            yield from _paths(child, seen)
