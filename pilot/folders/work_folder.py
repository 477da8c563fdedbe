"""The folder that the jobs of one slot work in, one after the other."""

import os
import stat
from typing import NamedTuple

from pilot.folders.attributes import attributes
from pilot.folders.deletion import delete_tree, empty_folder
from pilot.folders.dotless_names import DotlessName
from pilot.folders.ownership import PRIVATE
from pilot.folders.spare_files import SpareFiles
from pilot.users.slot_user import SlotUser, let_pass

#: A job's own folders: its inputs, where it runs and writes, its temporary files, and what it sees
#: as the system's folder for such.
IN, OUT, TMP, SYSTEM_TMP = _OWN = "in", "out", "tmp", "system-tmp"

_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC


class OpenFolder(NamedTuple):
    """``descriptor``: of the folder itself, whatever its path leads to later."""

    path: str
    descriptor: int


class _FolderState(NamedTuple):
    """What a folder has beside its files, when it is new. ``blocks``: that it takes itself. Some
    file systems never take them back from one that has had many files: it would stay slow, and tell
    of them."""

    mode: int
    owner: tuple[int, int]
    attributes: list[str]
    blocks: int

    @classmethod
    def of(cls, path: str) -> "_FolderState":
        found = os.stat(path)
        owner = found.st_uid, found.st_gid
        return cls(stat.S_IMODE(found.st_mode), owner, attributes(path), found.st_blocks)

    def restore(self, path: str, *, stays: bool) -> None:
        """With the time of now; one that has grown is made anew, unless it ``stays``. Raises
        ``OSError``."""
        for name in attributes(path):
            if name not in self.attributes:
                os.removexattr(path, name)
        if not stays and os.stat(path).st_blocks > self.blocks:
            delete_tree(path)
            os.mkdir(path)
        os.chown(path, *self.owner)
        os.chmod(path, self.mode)
        os.utime(path)


class WorkFolder:
    """The folder that the jobs of one slot work in. It is emptied between jobs, not made anew: new
    folders are dear on a disk. ``base``: without links in it, as are the paths here then.
    ``plain``: of the folder that it lies in, what it is called without a dot. ``user``: that the
    jobs' tools run as, and who can go through it; None: this process's."""

    def __init__(self, base: str, plain: DotlessName, user: SlotUser | None = None) -> None:
        self._user = user
        self.spares = SpareFiles(f"{base}-spare")
        self._base = base
        self._plain = plain
        self._number = 0
        #: A program stays that works in it: no folder is made anew, and in the system's folder for
        #: temporary files these stay.
        self.kept_for: frozenset[str] | None = None
        #: The job's, and after it what was kept of earlier ones.
        self.folders: list[OpenFolder] = []
        self._open_next()

    @property
    def path(self) -> str:
        return self.folders[0].path

    def known(self, *, plain: bool) -> list[OpenFolder]:
        """The folders by all their names, first the one by which the job is to know its own.
        ``plain``: without a dot, where that can be; not for engines of containers, which may see no
        other than its real name."""
        own = self.folders[0]
        name = f"{self._plain.now()}/{os.path.basename(own.path)}" if plain else own.path
        return [*([] if name == own.path else [OpenFolder(name, own.descriptor)]), *self.folders]

    def open_stream(self, name: str) -> int:
        """``stdout`` or ``stderr``: an empty file to append to, as a descriptor; the file itself is
        used again and again, unless something else stands there, which an earlier tool has left."""
        root = self.folders[0].descriptor
        try:
            descriptor = os.open(name, _APPEND | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600, dir_fd=root)
        except OSError:
            return self._new_stream(name)
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1 or attributes(descriptor):
            os.close(descriptor)
            return self._new_stream(name)
        if found.st_size:
            os.ftruncate(descriptor, 0)
        return descriptor

    def forget_streams(self) -> None:
        """Nothing of what the last job wrote to them is left. Raises ``OSError``."""
        for name in ("stdout", "stderr"):
            delete_tree(f"{self.path}/{name}")

    def _new_stream(self, name: str) -> int:
        delete_tree(f"{self.path}/{name}")
        return os.open(name, _APPEND | os.O_EXCL, 0o600, dir_fd=self.folders[0].descriptor)

    def identity(self) -> list[tuple[int, int]]:
        """Device and number of the folders that a job works in, and of its standard error. Raises
        ``OSError``."""
        found = [os.stat(f"{self.path}/{name}") for name in (*_OWN, "stderr")]
        return [(one.st_dev, one.st_ino) for one in found]

    def keep(self) -> str:
        """Where a job keeps what is not to be seen by what it runs next. Raises ``OSError``."""
        if len(self.folders) == 1:
            os.mkdir(f"{self._base}-kept", PRIVATE)
            self.folders.append(_opened(f"{self._base}-kept"))
        return self.folders[1].path

    def clear(self) -> None:
        """Nothing of the last job is left for the next. Raises ``OSError`` where not even a new
        folder can be made."""
        for folder in self.folders[1:]:
            delete_tree(folder.path)
            os.close(folder.descriptor)
        del self.folders[1:]
        self.empty()

    def empty(self) -> None:
        """Nothing but what is kept is left of what ran last. Raises as ``clear``."""
        try:
            # What a program that stays loaded has open, or mapped, is never used for another file.
            take = self.spares.take if self.kept_for is None else None
            empty_folder(f"{self.path}/{IN}", take=take)
            for name in (OUT, TMP):
                empty_folder(f"{self.path}/{name}")
            ways = _first_in_tmp(self._base) | _first_in_tmp(self._plain.now())
            ways |= self.kept_for or set()
            empty_folder(f"{self.path}/{SYSTEM_TMP}", keep=ways)
            for name in _OWN:
                self._new.restore(f"{self.path}/{name}", stays=self.kept_for is not None)
        except OSError:  # the tool has taken away our rights in it
            delete_tree(self.path)
            self._open_next()

    def _open_next(self) -> None:
        self._number += 1
        path = f"{self._base}-{self._number}"
        for name in _OWN:
            os.makedirs(f"{path}/{name}")
        if self._user is not None:
            let_pass(path, self._user)
        self._new = _FolderState.of(f"{path}/{OUT}")
        for folder in self.folders[:1]:
            os.close(folder.descriptor)
        self.folders[:1] = [_opened(path)]


def _first_in_tmp(path: str) -> set[str]:
    """What the way to a path begins with in /tmp. A sandbox for several jobs, of which each has a
    /tmp of its own, has it there."""
    return {path.split("/")[2]} if path.startswith("/tmp/") else set()  # noqa: S108


def _opened(path: str) -> OpenFolder:
    return OpenFolder(
        path, os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    )
