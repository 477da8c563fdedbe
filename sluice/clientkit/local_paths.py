"""Paths of files and folders on this machine."""

from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from sluice.contracts.common.wording import did_you_mean

#: The most names of a folder that are compared with a wrong one.
_MAX_COMPARED = 2000


def similar_name(path: Path) -> str:
    """Return `` (did you mean 'x'?)`` with the most similar name in the folder, or an empty text.

    Only the first names of a large folder are compared.
    """
    try:
        names = [entry.name for entry in islice(path.parent.iterdir(), _MAX_COMPARED)]
    except OSError:
        return ""
    return did_you_mean(path.name, names)


def local_path_of(value: Mapping[str, Any]) -> Path | None:
    """Return the path on this machine that a File or Directory object names, or None."""
    location = str(value.get("path") or value.get("location") or "")
    if location.startswith("file://"):
        location = unquote(location.removeprefix("file://"))
    return Path(location) if location else None
