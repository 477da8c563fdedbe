"""Search for a tool's outputs by patterns among the job's files."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import filter as matching

from pilot.runner.files.access_errors import InvalidOutputError, require_bounded
from pilot.runner.files.job_files import ForeignFileError, JobFiles

_MAGIC = re.compile(r"[*?[]")
#: Maximum length of a pattern with wildcards, which equals the system's limit for paths.
_MAX_PATTERN = 4096


@dataclass(frozen=True, slots=True)
class _Match:
    """A path that matches.

    Attributes:
        by_wildcard: Whether a wildcard matched it.
    """

    path: str
    by_wildcard: bool = False


def matching_paths(pattern: str, job_files: JobFiles) -> list[str]:
    """Return the paths that match, as ``glob.glob`` finds them.

    If there are none, a file whose name equals the pattern matches, as for ``stdout:
    $(inputs.file.basename)`` with ``photo[1].txt``. Wildcards skip links that lead elsewhere.

    Raises:
        ForeignFileError: The job may not have a matching file.
        InvalidOutputError: The pattern is too long or the search costs too much.
    """
    root = job_files.require_folder(pattern)
    parts = pattern[len(root) + 1 :].split("/")
    if "" not in parts and not _MAGIC.search(pattern, len(root)):
        return [pattern] if job_files.has_entry(pattern) else []
    if len(pattern) > _MAX_PATTERN:
        raise InvalidOutputError(
            f"the pattern {job_files.quote_path(pattern)}… has more than {_MAX_PATTERN}"
            " characters: give a shorter one"
        )
    matches = [_Match(root)]
    for number, part in enumerate(parts, 1):
        last = number == len(parts)
        matches = [
            match
            for base in matches
            for match in _count(_match_part(base, part, job_files, last=last), pattern, job_files)
        ]
    if not matches and "" not in parts and job_files.has_entry(pattern):
        return [pattern]
    return [match.path for match in matches]


def _count(matches: Iterable[_Match], pattern: str, job_files: JobFiles) -> Iterator[_Match]:
    """Yield the matches and add their cost.

    Raises:
        InvalidOutputError: The search for ``pattern`` costs too much.
    """
    require_bounded(job_files, pattern)
    for match in matches:
        job_files.cost.add_path(match.path)
        require_bounded(job_files, pattern)
        yield match


def _match_part(base: _Match, part: str, job_files: JobFiles, *, last: bool) -> Iterator[_Match]:
    """Yield what one part of a pattern matches below ``base``."""
    path, by_wildcard = base.path, base.by_wildcard
    paths: Iterable[str]
    try:
        if not part:
            paths = [path] if not last else [f"{path}/"] if job_files.is_folder(path) else []
        elif _MAGIC.search(part):
            names, by_wildcard = _list_matching_names(path, part, job_files), True
            paths = (f"{path}/{name}" for name in names)
        else:
            path = f"{path}/{part}"
            paths = [path] if not last or job_files.has_entry(path) else []
    except ForeignFileError:
        if not by_wildcard:
            raise
        return
    yield from (_Match(match, by_wildcard) for match in paths)


def _list_matching_names(folder: str, pattern: str, job_files: JobFiles) -> list[str]:
    if not job_files.is_folder(folder):
        return []
    hidden = pattern.startswith(".")
    return matching(
        [name for name in job_files.list_names(folder) if hidden or not name.startswith(".")],
        pattern,
    )
