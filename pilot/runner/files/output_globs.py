"""Patterns by which a tool's outputs are found among its job's files."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import filter as matching

from pilot.runner.files.job_files import NotOwnError, OwnFiles

_MAGIC = re.compile(r"[*?[]")


@dataclass(frozen=True, slots=True)
class _Match:
    """``chosen``: by a wildcard."""

    path: str
    chosen: bool = False


def matching_paths(pattern: str, own: OwnFiles) -> list[str]:
    """Paths that match, as ``glob.glob`` finds them. A wildcard passes over links that lead
    elsewhere. Raises ``NotOwnError``."""
    root = own.folder_with(pattern)
    found = [_Match(root)]
    parts = pattern[len(root) + 1 :].split("/")
    for number, part in enumerate(parts, 1):
        last = number == len(parts)
        found = [match for base in found for match in _matches(base, part, own, last=last)]
    return [match.path for match in found]


def _matches(base: _Match, part: str, own: OwnFiles, *, last: bool) -> Iterator[_Match]:
    """What one part of a pattern matches below ``base``."""
    path, chosen = base.path, base.chosen
    try:
        if not part:
            found = [path] if not last else [f"{path}/"] if own.is_folder(path) else []
        elif _MAGIC.search(part):
            found, chosen = [f"{path}/{name}" for name in _names(path, part, own)], True
        else:
            path = f"{path}/{part}"
            found = [path] if not last or own.has_entry(path) else []
    except NotOwnError:
        if not chosen:
            raise
        return
    yield from (_Match(match, chosen) for match in found)


def _names(folder: str, pattern: str, own: OwnFiles) -> list[str]:
    if not own.is_folder(folder):
        return []
    hidden = pattern.startswith(".")
    return matching(
        [name for name in own.names(folder) if hidden or not name.startswith(".")], pattern
    )
