"""The way to a file through a job's folders: folder by folder through descriptors, and links by
hand, so that what was looked at is what is opened."""

import errno
import os
import stat
from collections.abc import Sequence

from pilot.folders.openat2 import look_beneath
from pilot.folders.work_folder import OpenFolder
from sluice.storage import MOST_FOLDERS

#: For looking only, and at a link itself.
LOOK = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
MOST_LINKS = 40
#: Names on the way, those in links and those that lead up again included.
_MOST_STEPS = 2000
#: Folders between one of the job's and what a tool in it makes.
_ABOVE = 4
#: After the name of a folder: of itself, of what it holds.
_ENDS = ("", "/")


class OutsideError(Exception):
    """The way leads to ``path``, out of the job's folders."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class CircleError(Exception):
    """Links lead to links, perhaps without end."""


class DeepError(Exception):
    """The way goes through more folders than anybody follows."""


def folder_of(path: str, folders: Sequence[OpenFolder]) -> OpenFolder | None:
    """That of ``folders`` in which ``path`` lies, as it is written, or that it names."""
    for folder in folders:
        if path.startswith(folder.path) and path[len(folder.path) : len(folder.path) + 1] in _ENDS:
            return folder
    return None


def straight_to_end(path: str, folders: Sequence[OpenFolder]) -> int | None:
    """Where ``PathWalk`` would come to, in one step of the kernel's; None where it cannot be had in
    one. Raises ``OSError``."""
    root = folder_of(path, folders)
    if root is None or path.count("/") > MOST_FOLDERS:
        return None
    return look_beneath(root.descriptor, path[len(root.path) + 1 :])


class PathWalk:
    """From one of the job's folders down; up again no further than to it. ``steps``: taken so
    far."""

    def __init__(self, folders: Sequence[OpenFolder], *, links: bool = True) -> None:
        self._folders = folders
        self._follow = links
        self.steps = 0
        self._links = 0
        self._root = folders[0]
        self._passed: list[int] = []
        self._parts: list[str] = []

    def to_end(self, path: str) -> int:
        """Raises ``OutsideError``, ``CircleError``, ``DeepError``, ``OSError``."""
        try:
            self._begin(path)
            while self._parts:
                self._step(self._parts.pop())
            return self._passed.pop() if self._passed else os.dup(self._root.descriptor)
        finally:
            self._leave()

    def _begin(self, path: str) -> None:
        self._leave()
        root = folder_of(path, self._folders)
        if root is None:
            raise OutsideError(path)
        self._root = root
        self._parts = path[len(root.path) :].split("/")[::-1]

    def _leave(self) -> None:
        for descriptor in self._passed:
            os.close(descriptor)
        self._passed = []

    def _step(self, part: str) -> None:
        self.steps += 1
        if self.steps > _MOST_STEPS:
            raise DeepError
        if part in ("", ".", ".."):
            self._require_folder()
            if part == "..":
                self._go_up()
            return
        place = self._passed[-1] if self._passed else self._root.descriptor
        found = os.open(part, LOOK, dir_fd=place)
        if not stat.S_ISLNK(os.fstat(found).st_mode):
            self._passed.append(found)
            if len(self._passed) > MOST_FOLDERS + _ABOVE:
                raise DeepError
            return
        os.close(found)
        self._follow_link(os.readlink(part, dir_fd=place))

    def _require_folder(self) -> None:
        """Of what the way has come to."""
        if self._passed and not stat.S_ISDIR(os.fstat(self._passed[-1]).st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))

    def _go_up(self) -> None:
        if not self._passed:
            raise OutsideError(
                os.path.normpath("/".join([self._root.path, "..", *self._parts[::-1]]))
            )
        os.close(self._passed.pop())

    def _follow_link(self, target: str) -> None:
        self._links += 1
        if not self._follow:
            raise OutsideError(target)
        if self._links > MOST_LINKS:
            raise CircleError
        if target.startswith("/"):
            self._begin("/".join([target, *self._parts[::-1]]))
        else:
            self._parts += target.split("/")[::-1]
