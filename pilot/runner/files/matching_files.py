"""Search for the files that match patterns below a folder, while a tool writes there.

The files are opened in their state of one moment. No link is followed, and only regular files are
opened.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from sluice.contracts.jobs.checkpoints import MAX_KEPT_FILES
from sluice.contracts.jobs.spent import SPENT_FILE
from sluice.storage import MAX_FOLDERS
from sluice.text.os_errors import reason_of

#: Maximum number of names that one search looks at.
_MAX_NAMES = 20_000
#: This file is not a result of the tool: it holds the amounts that an attempt has spent.
_SPENT_FILE = SPENT_FILE.encode()
_MAGIC = frozenset("*?[")

_LOOK = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC

#: Device, inode, size in bytes and modification time.
FileState = tuple[int, int, int, int]


class TooManyError(Exception):
    """A search exceeds a limit.

    ``what`` says in words which limit.
    """

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


def state_of(found: os.stat_result) -> FileState:
    """Return the state of a file from its status."""
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


@dataclass(slots=True)
class MatchingFiles:
    """Open files by their paths.

    ``passed`` maps the paths of skipped files to the reasons.
    """

    files: dict[bytes, int] = field(default_factory=dict)
    states: dict[bytes, FileState] = field(default_factory=dict)
    passed: dict[bytes, str] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Return the total size of the files in bytes."""
        return sum(state[2] for state in self.states.values())


def open_matching(folder: int, patterns: Sequence[str], closing: ExitStack) -> MatchingFiles:
    """Open the matching files below the folder with descriptor ``folder``.

    The files stay open until ``closing`` is closed.

    Raises:
        TooManyError: The search exceeds a limit.
        OSError: The folder could not be read.
    """
    return _found(folder, patterns, closing)


def matching_states(folder: int, patterns: Sequence[str]) -> dict[bytes, FileState]:
    """Return the current states of the files that ``open_matching`` would open.

    Only one file is open at a time.
    """
    return _found(folder, patterns, None).states


def _found(folder: int, patterns: Sequence[str], closing: ExitStack | None) -> MatchingFiles:
    search = _Search(closing, os.fstat(folder).st_uid)
    top = os.open(".", _FOLDER, dir_fd=folder)
    try:
        for pattern in patterns:
            search.look(top, b"", [os.fsencode(part) for part in pattern.split("/")])
    finally:
        os.close(top)
    return search.found


class _Search:
    """Search for matching files.

    If ``closing`` is None, no file stays open. ``owner`` is the owner of the folder, which is the
    user of the tool.
    """

    def __init__(self, closing: ExitStack | None, owner: int) -> None:
        self.found = MatchingFiles()
        self._closing = closing
        self._owner = owner
        self._names = 0

    def look(self, folder: int, path: bytes, parts: Sequence[bytes]) -> None:
        """Search a folder for the names that ``parts`` match.

        ``path`` is the path of the folder. Without ``parts``, all names match.
        """
        if path.count(b"/") > MAX_FOLDERS:
            raise TooManyError(f"more than {MAX_FOLDERS} folders in each other")
        for name in self._matching(folder, parts[0] if parts else b"*"):
            with suppress(FileNotFoundError, NotADirectoryError):  # The file has gone.
                self._enter(folder, name, path + name, parts[1:])

    def _matching(self, folder: int, part: bytes) -> Iterator[bytes]:
        if not _MAGIC & set(os.fsdecode(part)):
            yield part
            return
        with os.scandir(folder) as entries:
            for entry in entries:
                self._names += 1
                if self._names > _MAX_NAMES:
                    raise TooManyError(f"more than {_MAX_NAMES} names to look through")
                name = os.fsencode(entry.name)
                if fnmatchcase(name, part) and (part.startswith(b".") or name[:1] != b"."):
                    yield name

    def _enter(self, folder: int, name: bytes, path: bytes, parts: Sequence[bytes]) -> None:
        seen = os.open(name, _LOOK, dir_fd=folder)
        try:
            status = os.fstat(seen)
            if stat.S_ISDIR(status.st_mode):
                inside = os.open(f"/proc/self/fd/{seen}", _FOLDER)
                try:
                    self.look(inside, path + b"/", parts)
                finally:
                    os.close(inside)
            elif not parts:
                self._take(seen, status, path)
        except PermissionError as error:
            self.found.passed[path] = reason_of(error)
        finally:
            os.close(seen)

    def _take(self, seen: int, status: os.stat_result, path: bytes) -> None:
        if path in self.found.files or path == _SPENT_FILE:
            return
        if not stat.S_ISREG(status.st_mode):
            kind = "a link" if stat.S_ISLNK(status.st_mode) else "no regular file"
            self.found.passed[path] = f"it is {kind}"
            return
        if status.st_nlink > 1 and status.st_uid != self._owner:
            self.found.passed[path] = "it is another name of somebody else's file"
            return
        if len(self.found.files) == MAX_KEPT_FILES:
            raise TooManyError(f"more than {MAX_KEPT_FILES} files")
        opened = os.open(f"/proc/self/fd/{seen}", os.O_RDONLY | os.O_CLOEXEC)
        self.found.files[path] = opened
        self.found.states[path] = state_of(os.fstat(opened))
        if self._closing is None:
            os.close(opened)
        else:
            self._closing.callback(os.close, opened)
