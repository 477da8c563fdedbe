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

_SPECIAL_CHARACTERS = frozenset("#?%")


def make_fetcher(process_arguments: list[str]) -> Callable[..., DefaultFetcher] | None:
    """Return a fetcher that lets cwltool take the paths in a job order literally.

    ``process_arguments`` are the arguments after the process.

    Returns:
        None if there is no file with a job order, or if cwltool needs no help with it.
    """
    match process_arguments:
        case [str() as order] if not order.startswith("-") and os.path.isfile(order):
            path = Path(os.path.abspath(order))
        case _:
            return None
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):  # cwltool reports it better
        return None
    escaped = escape_paths(text, path.parent)
    return None if escaped == text else partial(_fetcher_with_texts, {file_uri(str(path)): escaped})


def _fetcher_with_texts(
    texts: dict[str, str], cache: dict[str, Any], session: Any
) -> DefaultFetcher:
    return DefaultFetcher(cache | texts, session)


def escape_paths(text: str, folder: Path) -> str:
    """Return a job order in ``folder`` with escapes in the paths of existing files.

    A path is escaped if a file has exactly this name. The rest of the text does not change.
    """
    if _SPECIAL_CHARACTERS.isdisjoint(text):
        return text
    try:
        nodes = {
            node.start_mark.index: node
            for node in _path_nodes(yaml.compose(text, yaml.CSafeLoader), set())
        }
    except yaml.YAMLError:  # cwltool reports it better
        return text
    parts, end = [], 0
    for start, node in sorted(nodes.items()):
        if not _SPECIAL_CHARACTERS.isdisjoint(node.value) and os.path.exists(folder / node.value):
            parts += [text[end:start], json.dumps(quote(node.value))]
            end = node.end_mark.index
    return "".join([*parts, text[end:]])


def _path_nodes(node: Any, visited_ids: set[int]) -> Iterator[yaml.ScalarNode]:
    """Yield the paths of all Files and Directories without a location.

    ``visited_ids`` has the identities of visited nodes, because an alias leads to a node again.
    """
    if id(node) in visited_ids:
        return
    visited_ids.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for child in node.value:
            yield from _path_nodes(child, visited_ids)
    elif isinstance(node, yaml.MappingNode):
        fields = {key.value: value for key, value in node.value if isinstance(key, yaml.ScalarNode)}
        path, kind = fields.get("path"), fields.get("class")
        is_file = (
            kind is not None and kind.value in ("File", "Directory") and "location" not in fields
        )
        if is_file and isinstance(path, yaml.ScalarNode) and path.style not in ("|", ">"):
            yield path
        for child in fields.values():
            yield from _path_nodes(child, visited_ids)
