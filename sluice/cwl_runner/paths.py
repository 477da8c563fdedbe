"""Names of files in job orders: a ``path`` is one as it stands; cwltool reads it as a reference,
which ends at ``#`` or ``?``."""

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
    """With it cwltool reads paths in the job order, where one stands ``behind`` the process, as
    they stand; None where it does so by itself."""
    match behind:
        case [str() as order] if not order.startswith("-") and os.path.isfile(order):
            path = Path(os.path.abspath(order))
        case _:
            return None
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):  # the reader says it better
        return None
    escaped = with_paths_escaped(text, path.parent)
    return None if escaped == text else partial(_fetcher, {file_uri(str(path)): escaped})


def _fetcher(texts: dict[str, str], cache: dict[str, Any], session: Any) -> DefaultFetcher:
    return DefaultFetcher(cache | texts, session)


def with_paths_escaped(text: str, folder: Path) -> str:
    """A job order that lies in ``folder``, with escapes in the paths of those files that are there
    by this very name; all else stays as it is written."""
    if _SIGNS.isdisjoint(text):
        return text
    try:
        found = {
            node.start_mark.index: node
            for node in _paths(yaml.compose(text, yaml.CSafeLoader), set())
        }
    except yaml.YAMLError:  # the reader says it better
        return text
    parts, end = [], 0
    for start, node in sorted(found.items()):
        if not _SIGNS.isdisjoint(node.value) and os.path.exists(folder / node.value):
            parts += [text[end:start], json.dumps(quote(node.value))]
            end = node.end_mark.index
    return "".join([*parts, text[end:]])


def _paths(node: Any, seen: set[int]) -> Iterator[yaml.ScalarNode]:
    """Of all Files and Directories that have no location. ``seen``: an alias leads to a node once
    more."""
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
