"""Default files of tools as literals, which go to every job with the tool."""

import posixpath
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from ruamel.yaml.comments import CommentedMap

from sluice.cwl.reading.files import is_relative
from sluice.cwl.reading.findings import text_place
from sluice.cwl.reading.nodes import put_at

#: The largest ``contents`` that CWL allows, in bytes.
MAX_CONTENTS = 64 * 1024
_FIELDS = ("location", "path")


def naming_field(node: CommentedMap) -> str | None:
    """Return the field by which a File object names another file of the template, or None."""
    if node.get("class") != "File" or "contents" in node:
        return None
    return next(
        (key for key in _FIELDS if isinstance(node.get(key), str) and is_relative(node[key])), None
    )


def find_outside_name(node: Mapping[str, Any]) -> str | None:
    """Return the field by which a File or Directory names what is not in the template, or None."""
    if node.get("class") not in ("File", "Directory"):
        return None
    names = {key: node[key] for key in _FIELDS if isinstance(node.get(key), str)}
    return next((key for key, name in names.items() if "$(" not in name and "${" not in name), None)


def make_literal(node: CommentedMap, key: str, text: str) -> None:
    """Turn a File object into a literal.

    Args:
        node: The File object, which is changed.
        key: The field that names the file.
        text: The content of the file, at most ``MAX_CONTENTS`` bytes.
    """
    place = text_place(node, key)
    put_at(node, "basename", node.get("basename", posixpath.basename(unquote(node[key]))), place)
    put_at(node, "contents", text, place)
    put_at(node, "size", len(text.encode()), place)
    for name in _FIELDS:
        node.pop(name, None)
