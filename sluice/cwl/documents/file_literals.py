"""Default files of tools as literals, which go to every job with the tool."""

import posixpath
from urllib.parse import unquote

from ruamel.yaml.comments import CommentedMap

from sluice.cwl.reading.files import is_relative
from sluice.cwl.reading.findings import Findings, text_place
from sluice.cwl.reading.nodes import put_at
from sluice.text.visible_text import quoted

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


def make_literal(node: CommentedMap, key: str, text: str, findings: Findings) -> None:
    """Turn a File object into a literal, or report that it is too large.

    Args:
        node: The File object, which is changed.
        key: The field that names the file.
        text: The content of the file.
        findings: Gets the error.
    """
    place, size = text_place(node, key), len(text.encode())
    if size > MAX_CONTENTS:
        findings.error(
            place,
            f"{quoted(key)} names a file of {size} bytes: at most {MAX_CONTENTS} (64 KiB) go to"
            " jobs with the template; install it with the tool, or let the workflow have an input"
            " of type File for it",
        )
        return
    put_at(node, "basename", node.get("basename", posixpath.basename(unquote(node[key]))), place)
    put_at(node, "contents", text, place)
    for name in _FIELDS:
        node.pop(name, None)
