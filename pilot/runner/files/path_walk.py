"""Resolution of paths inside a job's folders.

Each folder on the path is opened through a descriptor and links are resolved here. The file that is
checked is therefore the file that is opened.
"""

import errno
import os
import stat
from collections.abc import Sequence

from pilot.folders.openat2 import open_beneath
from pilot.folders.work_folder import OpenFolder
from sluice.cwl_values import MAX_FOLDERS

#: Flags for an ``O_PATH`` descriptor that does not follow a link.
LOOK = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
MAX_LINKS = 40
#: Maximum number of names on a path, including those in links and "..".
_MAX_STEPS = 2000
#: Folders between a job's folder and the folders that its tool makes.
_ABOVE = 4
#: Characters after the name of a folder in its own path and in the paths below it.
_ENDS = ("", "/")


class OutsideFoldersError(Exception):
    """The path leads to ``path`` outside the job's folders."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class LinkCycleError(Exception):
    """The path has too many links, possibly a cycle."""


class PathDepthError(Exception):
    """The path goes through too many folders."""


def find_folder(path: str, folders: Sequence[OpenFolder]) -> OpenFolder | None:
    """Return the folder that ``path``, as it is written, equals or is in, or None."""
    for folder in folders:
        if path.startswith(folder.path) and path[len(folder.path) : len(folder.path) + 1] in _ENDS:
            return folder
    return None


def resolve_in_one_call(path: str, folders: Sequence[OpenFolder]) -> int | None:
    """Resolve a path in one system call, with the result of ``PathWalk``.

    Returns:
        None if the path cannot be resolved in one call.

    Raises:
        OSError: The path does not exist.
    """
    root = find_folder(path, folders)
    if root is None or path.count("/") > MAX_FOLDERS:
        return None
    return open_beneath(root.descriptor, path[len(root.path) + 1 :])


class PathWalk:
    """Walk along a path from one of the job's folders.

    The walk never leaves this folder upwards. ``steps`` counts the names so far.
    """

    def __init__(self, folders: Sequence[OpenFolder], *, links: bool = True) -> None:
        self._folders = folders
        self._follow = links
        self.steps = 0
        self._links = 0
        self._root = folders[0]
        self._descriptors: list[int] = []
        self._parts: list[str] = []

    def resolve(self, path: str) -> int:
        """Return an ``O_PATH`` descriptor of the file at the end of the path.

        Raises:
            OutsideFoldersError: The path leads outside the job's folders.
            LinkCycleError: The path has too many links.
            PathDepthError: The path goes through too many folders.
            OSError: The path does not exist.
        """
        try:
            self._begin(path)
            while self._parts:
                self._step(self._parts.pop())
            return self._descriptors.pop() if self._descriptors else os.dup(self._root.descriptor)
        finally:
            self._leave()

    def _begin(self, path: str) -> None:
        self._leave()
        root = find_folder(path, self._folders)
        if root is None:
            raise OutsideFoldersError(path)
        self._root = root
        self._parts = path[len(root.path) :].split("/")[::-1]

    def _leave(self) -> None:
        for descriptor in self._descriptors:
            os.close(descriptor)
        self._descriptors = []

    def _step(self, part: str) -> None:
        self.steps += 1
        if self.steps > _MAX_STEPS:
            raise PathDepthError
        if part in ("", ".", ".."):
            self._require_folder()
            if part == "..":
                self._go_up()
            return
        place = self._descriptors[-1] if self._descriptors else self._root.descriptor
        descriptor = os.open(part, LOOK, dir_fd=place)
        if not stat.S_ISLNK(os.fstat(descriptor).st_mode):
            self._descriptors.append(descriptor)
            if len(self._descriptors) > MAX_FOLDERS + _ABOVE:
                raise PathDepthError
            return
        os.close(descriptor)
        self._follow_link(os.readlink(part, dir_fd=place))

    def _require_folder(self) -> None:
        """Check that the walk has reached a folder.

        Raises:
            NotADirectoryError: It has not.
        """
        if self._descriptors and not stat.S_ISDIR(os.fstat(self._descriptors[-1]).st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))

    def _go_up(self) -> None:
        if not self._descriptors:
            raise OutsideFoldersError(
                os.path.normpath("/".join([self._root.path, "..", *self._parts[::-1]]))
            )
        os.close(self._descriptors.pop())

    def _follow_link(self, target: str) -> None:
        self._links += 1
        if not self._follow:
            raise OutsideFoldersError(target)
        if self._links > MAX_LINKS:
            raise LinkCycleError
        if target.startswith("/"):
            self._begin("/".join([target, *self._parts[::-1]]))
        else:
            self._parts += target.split("/")[::-1]
