"""Patterns by which a tool's outputs are found among its job's files."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import filter as matching

from pilot.runner.files.job_files import ForeignFileError, JobFiles

_MAGIC = re.compile(r"[*?[]")


@dataclass(frozen=True, slots=True)
class _Match:
    """``chosen``: by a wildcard."""

    path: str
    chosen: bool = False


def matching_paths(pattern: str, job_files: JobFiles) -> list[str]:
    """Paths that match, as ``glob.glob`` finds them. A wildcard passes over links that lead
    elsewhere. Raises ``ForeignFileError``."""
    root = job_files.folder_with(pattern)
    parts = pattern[len(root) + 1 :].split("/")
    if "" not in parts and not _MAGIC.search(pattern, len(root)):
        return [pattern] if job_files.has_entry(pattern) else []
    found = [_Match(root)]
    for number, part in enumerate(parts, 1):
        last = number == len(parts)
        found = [match for base in found for match in _matches(base, part, job_files, last=last)]
    return [match.path for match in found]


def _matches(base: _Match, part: str, job_files: JobFiles, *, last: bool) -> Iterator[_Match]:
    """What one part of a pattern matches below ``base``."""
    path, chosen = base.path, base.chosen
    try:
        if not part:
            found = [path] if not last else [f"{path}/"] if job_files.is_folder(path) else []
        elif _MAGIC.search(part):
            found, chosen = [f"{path}/{name}" for name in _names(path, part, job_files)], True
        else:
            path = f"{path}/{part}"
            found = [path] if not last or job_files.has_entry(path) else []
    except ForeignFileError:
        if not chosen:
            raise
        return
    yield from (_Match(match, chosen) for match in found)


def _names(folder: str, pattern: str, job_files: JobFiles) -> list[str]:
    if not job_files.is_folder(folder):
        return []
    hidden = pattern.startswith(".")
    return matching(
        [name for name in job_files.names(folder) if hidden or not name.startswith(".")], pattern
    )
