"""The folder that the jobs of one slot work in, one after the other."""

import os
import stat
from typing import NamedTuple

from pilot.folders.attributes import list_attributes
from pilot.folders.deletion import delete_tree, empty_folder
from pilot.folders.dotless_alias import DotlessAlias
from pilot.folders.ownership import PRIVATE
from pilot.folders.spare_files import SpareFiles
from pilot.isolation.users.slot_user import SlotUser, let_pass

#: Folders of a job: inputs, outputs and working directory, temporary files, and its ``/tmp``.
IN, OUT, TMP, SYSTEM_TMP = _JOB_FOLDERS = "in", "out", "tmp", "system-tmp"

_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC


class OpenFolder(NamedTuple):
    """A folder with an open descriptor.

    The descriptor stays valid if the path later leads elsewhere.
    """

    path: str
    descriptor: int


class _FolderState(NamedTuple):
    """Mode, owner, attributes and own size of a new folder.

    Attributes:
        blocks: The size on disk of the folder itself. Some file systems never shrink a folder that
            has had many files. Such a folder stays slow, and its size reveals the earlier files.
    """

    mode: int
    owner: tuple[int, int]
    attributes: list[str]
    blocks: int

    @classmethod
    def read(cls, path: str) -> "_FolderState":
        status = os.stat(path)
        owner = status.st_uid, status.st_gid
        return cls(stat.S_IMODE(status.st_mode), owner, list_attributes(path), status.st_blocks)

    def restore(self, path: str, *, stays: bool) -> None:
        """Restore the state of an emptied folder and set its time to now.

        A folder that has grown is created again unless it ``stays``.

        Raises:
            OSError: The folder could not be restored.
        """
        for name in list_attributes(path):
            if name not in self.attributes:
                os.removexattr(path, name)
        if not stays and os.stat(path).st_blocks > self.blocks:
            delete_tree(path)
            os.mkdir(path)
        os.chown(path, *self.owner)
        os.chmod(path, self.mode)
        os.utime(path)


class WorkFolder:
    """The folder that the jobs of one slot work in.

    It is emptied between jobs and not created again, as new folders are expensive on a disk.
    ``base`` has no links in it, so the paths here have none either. ``plain`` gives the parent
    folder a name without a dot.

    ``user`` is the user of the jobs' tools, who can pass through the folder. None stands for this
    process's user.
    """

    def __init__(self, base: str, plain: DotlessAlias, user: SlotUser | None = None) -> None:
        self._user = user
        self.spares = SpareFiles(f"{base}-spare")
        self._base = base
        self._plain = plain
        self._number = 0
        #: Names in the system's temporary folder that stay while a program works in the folder. If
        #: it is not None, no folder is created again.
        self.reserved_for: frozenset[str] | None = None
        #: The job's folder, followed by the folder with kept files of earlier runs.
        self.folders: list[OpenFolder] = []
        self._open_next()

    @property
    def path(self) -> str:
        """Return the path of the job's folder."""
        return self.folders[0].path

    def list_folders(self, *, plain: bool) -> list[OpenFolder]:
        """Return the folders under all their names, first the name that the job uses.

        ``plain`` asks for a name without a dot. Container engines need the real name instead, as
        they may see no other.
        """
        own = self.folders[0]
        name = f"{self._plain.find_path()}/{os.path.basename(own.path)}" if plain else own.path
        return [*([] if name == own.path else [OpenFolder(name, own.descriptor)]), *self.folders]

    def open_stream(self, name: str) -> int:
        """Open ``stdout`` or ``stderr`` as an empty file to append to, and return the descriptor.

        The file is reused unless an earlier tool has replaced it.
        """
        root = self.folders[0].descriptor
        try:
            descriptor = os.open(name, _APPEND | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600, dir_fd=root)
        except OSError:
            return self._new_stream(name)
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1 or list_attributes(descriptor):
            os.close(descriptor)
            return self._new_stream(name)
        if status.st_size:
            os.ftruncate(descriptor, 0)
        return descriptor

    def forget_streams(self) -> None:
        """Delete what the last job wrote to its streams.

        Raises:
            OSError: A file could not be deleted.
        """
        for name in ("stdout", "stderr"):
            delete_tree(f"{self.path}/{name}")

    def _new_stream(self, name: str) -> int:
        delete_tree(f"{self.path}/{name}")
        return os.open(name, _APPEND | os.O_EXCL, 0o600, dir_fd=self.folders[0].descriptor)

    def identity(self) -> list[tuple[int, int]]:
        """Return device and inode of the job's folders and of its standard error.

        Raises:
            OSError: A folder or file is missing.
        """
        states = [os.stat(f"{self.path}/{name}") for name in (*_JOB_FOLDERS, "stderr")]
        return [(status.st_dev, status.st_ino) for status in states]

    def open_kept_folder(self) -> str:
        """Return a folder for files that the next program of the job must not see.

        Raises:
            OSError: The folder could not be created.
        """
        if len(self.folders) == 1:
            os.mkdir(f"{self._base}-kept", PRIVATE)
            self.folders.append(_open_folder(f"{self._base}-kept"))
        return self.folders[1].path

    def clear(self) -> None:
        """Delete everything of the last job.

        Raises:
            OSError: A new folder could not be created either.
        """
        for folder in self.folders[1:]:
            delete_tree(folder.path)
            os.close(folder.descriptor)
        del self.folders[1:]
        self.empty()

    def empty(self) -> None:
        """Delete everything that the last program left, except kept files.

        Raises:
            OSError: A new folder could not be created either.
        """
        try:
            # A warm worker may have files open or mapped, so these files must not be reused.
            take = self.spares.add if self.reserved_for is None else None
            empty_folder(f"{self.path}/{IN}", take=take)
            for name in (OUT, TMP):
                empty_folder(f"{self.path}/{name}")
            reserved = _find_name_in_tmp(self._base) | _find_name_in_tmp(self._plain.find_path())
            reserved |= self.reserved_for or set()
            empty_folder(f"{self.path}/{SYSTEM_TMP}", keep=reserved)
            for name in _JOB_FOLDERS:
                self._new.restore(f"{self.path}/{name}", stays=self.reserved_for is not None)
        except OSError:  # The tool has removed this user's permissions.
            delete_tree(self.path)
            self._open_next()

    def _open_next(self) -> None:
        self._number += 1
        path = f"{self._base}-{self._number}"
        for name in _JOB_FOLDERS:
            os.makedirs(f"{path}/{name}")
        if self._user is not None:
            let_pass(path, self._user)
        self._new = _FolderState.read(f"{path}/{OUT}")
        for folder in self.folders[:1]:
            os.close(folder.descriptor)
        self.folders[:1] = [_open_folder(path)]


def _find_name_in_tmp(path: str) -> set[str]:
    """Return the first name below ``/tmp`` on the way to a path.

    In a sandbox for several jobs, each job has its own ``/tmp``, and this name must exist in it.
    """
    return {path.split("/")[2]} if path.startswith("/tmp/") else set()  # noqa: S108


def _open_folder(path: str) -> OpenFolder:
    return OpenFolder(
        path, os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    )
