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

from sluice.contracts.jobs.checkpoints import MAX_CHECKPOINT_FILES
from sluice.contracts.jobs.spent import SPENT_FILE
from sluice.cwl_values import MAX_FOLDERS
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


class SearchLimitError(Exception):
    """A search exceeds a limit.

    ``limit`` says in words which limit.
    """

    def __init__(self, limit: str) -> None:
        super().__init__(limit)
        self.limit = limit


def file_state(status: os.stat_result) -> FileState:
    """Return the state of a file from its status."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


@dataclass(slots=True)
class MatchingFiles:
    """Open files by their paths.

    Attributes:
        skip_reasons: The reasons why files were skipped, by path.
    """

    files: dict[bytes, int] = field(default_factory=dict)
    states: dict[bytes, FileState] = field(default_factory=dict)
    skip_reasons: dict[bytes, str] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Return the total size of the files in bytes."""
        return sum(state[2] for state in self.states.values())


def open_matching(folder: int, patterns: Sequence[str], exit_stack: ExitStack) -> MatchingFiles:
    """Open the matching files below the folder with descriptor ``folder``.

    The files stay open until ``exit_stack`` is closed.

    Raises:
        SearchLimitError: The search exceeds a limit.
        OSError: The folder could not be read.
    """
    return _find_files(folder, patterns, exit_stack)


def read_states(folder: int, patterns: Sequence[str]) -> dict[bytes, FileState]:
    """Return the current states of the files that ``open_matching`` would open.

    Only one file is open at a time.
    """
    return _find_files(folder, patterns, None).states


def _find_files(
    folder: int, patterns: Sequence[str], exit_stack: ExitStack | None
) -> MatchingFiles:
    search = _Search(exit_stack, os.fstat(folder).st_uid)
    top = os.open(".", _FOLDER, dir_fd=folder)
    try:
        for pattern in patterns:
            search.search(top, b"", [os.fsencode(part) for part in pattern.split("/")])
    finally:
        os.close(top)
    return search.files


class _Search:
    """Search for matching files.

    If ``exit_stack`` is None, no file stays open. ``owner`` is the owner of the folder, who is the
    user of the tool.
    """

    def __init__(self, exit_stack: ExitStack | None, owner: int) -> None:
        self.files = MatchingFiles()
        self._exit_stack = exit_stack
        self._owner = owner
        self._names = 0

    def search(self, folder: int, path: bytes, parts: Sequence[bytes]) -> None:
        """Search a folder for the names that ``parts`` match.

        ``path`` is the path of the folder. Without ``parts``, all names match.
        """
        if path.count(b"/") > MAX_FOLDERS:
            raise SearchLimitError(f"more than {MAX_FOLDERS} folders in each other")
        for name in self._list_names(folder, parts[0] if parts else b"*"):
            with suppress(FileNotFoundError, NotADirectoryError):  # The file has gone.
                self._search_entry(folder, name, path + name, parts[1:])

    def _list_names(self, folder: int, part: bytes) -> Iterator[bytes]:
        if not _MAGIC & set(os.fsdecode(part)):
            yield part
            return
        with os.scandir(folder) as entries:
            for entry in entries:
                self._names += 1
                if self._names > _MAX_NAMES:
                    raise SearchLimitError(f"more than {_MAX_NAMES} names to look through")
                name = os.fsencode(entry.name)
                if fnmatchcase(name, part) and (part.startswith(b".") or name[:1] != b"."):
                    yield name

    def _search_entry(self, folder: int, name: bytes, path: bytes, parts: Sequence[bytes]) -> None:
        descriptor = os.open(name, _LOOK, dir_fd=folder)
        try:
            status = os.fstat(descriptor)
            if stat.S_ISDIR(status.st_mode):
                inside = os.open(f"/proc/self/fd/{descriptor}", _FOLDER)
                try:
                    self.search(inside, path + b"/", parts)
                finally:
                    os.close(inside)
            elif not parts:
                self._add(descriptor, status, path)
        except PermissionError as error:
            self.files.skip_reasons[path] = reason_of(error)
        finally:
            os.close(descriptor)

    def _add(self, descriptor: int, status: os.stat_result, path: bytes) -> None:
        if path in self.files.files or path == _SPENT_FILE:
            return
        if not stat.S_ISREG(status.st_mode):
            kind = "a link" if stat.S_ISLNK(status.st_mode) else "not a regular file"
            self.files.skip_reasons[path] = f"it is {kind}"
            return
        if status.st_nlink > 1 and status.st_uid != self._owner:
            self.files.skip_reasons[path] = "it is another name of somebody else's file"
            return
        if len(self.files.files) == MAX_CHECKPOINT_FILES:
            raise SearchLimitError(f"more than {MAX_CHECKPOINT_FILES} files")
        opened = os.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY | os.O_CLOEXEC)
        self.files.files[path] = opened
        self.files.states[path] = file_state(os.fstat(opened))
        if self._exit_stack is None:
            os.close(opened)
        else:
            self._exit_stack.callback(os.close, opened)
