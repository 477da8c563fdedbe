"""Files and directories of the template as literals, which go to every job with the tool."""

import posixpath
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from ruamel.yaml.comments import CommentedMap

from sluice.contracts.templates.secondary_files import secondary_name
from sluice.cwl.reading.files import is_relative
from sluice.cwl.reading.findings import text_place
from sluice.cwl.reading.nodes import map_at, node_at, put_at

_FIELDS = ("location", "path")


def naming_field(node: CommentedMap) -> str | None:
    """Return the field by which a File or Directory names one of the template, or None."""
    if node.get("class") not in ("File", "Directory") or {"contents", "listing"} & node.keys():
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


def name_secondary_file(node: CommentedMap, key: str, pattern: str) -> CommentedMap:
    """Return the secondary file of a File object that is beside it in the template.

    Args:
        node: The File object.
        key: The field that names the file.
        pattern: The pattern of the secondary file.
    """
    folder, name = posixpath.split(node[key])
    location = posixpath.join(folder, secondary_name(name, pattern))
    return map_at(text_place(node, key), {"class": "File", key: location})


def make_file_literal(node: CommentedMap, key: str, text: str) -> None:
    """Turn a File object into a literal.

    Args:
        node: The File object, which is changed.
        key: The field that names the file.
        text: The content of the file, at most `MAX_LITERAL` bytes.
    """
    _make_literal(node, key, _content(text))


def make_directory_literal(node: CommentedMap, key: str, texts: Mapping[str, str]) -> None:
    """Turn a Directory object into a literal.

    Args:
        node: The Directory object, which is changed.
        key: The field that names the directory.
        texts: The contents of its files, by path in the directory.
    """
    listings: dict[str, list[dict[str, Any]]] = {"": []}
    for path, text in sorted(texts.items()):
        file = {"class": "File", "basename": posixpath.basename(path), **_content(text)}
        _find_listing(posixpath.dirname(path), listings).append(file)
    _make_literal(node, key, {"listing": listings[""]})


def _content(text: str) -> dict[str, Any]:
    return {"contents": text, "size": len(text.encode())}


def _find_listing(folder: str, listings: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the listing of a folder. A folder that is missing is added to the one around it."""
    if folder not in listings:
        listings[folder] = []
        name = posixpath.basename(folder)
        entry = {"class": "Directory", "basename": name, "listing": listings[folder]}
        _find_listing(posixpath.dirname(folder), listings).append(entry)
    return listings[folder]


def _make_literal(node: CommentedMap, key: str, fields: Mapping[str, Any]) -> None:
    place, name = text_place(node, key), posixpath.basename(unquote(node[key]).rstrip("/"))
    for field, value in {"basename": node.get("basename", name), **fields}.items():
        put_at(node, field, node_at(place, value), place)
    for field in _FIELDS:
        node.pop(field, None)
