"""The user of a slot's tools and its access to the job's folders."""

import os
import stat
from collections.abc import Iterator

from pilot.isolation.sandbox.process_limits import ProcessLimits
from sluice.contracts.common.base import Contract

_OTHERS_READ, _OTHERS_ENTER = stat.S_IROTH, stat.S_IXOTH


class SlotUser(Contract):
    """The user of a slot's tools.

    Attributes:
        gid: Its only group, which no other slot's user has.
        processes: The most processes of the user.
        open_files: The most open files of each of its processes.
    """

    name: str
    uid: int
    gid: int
    processes: int = 4096
    open_files: int = 16384

    @property
    def limits(self) -> ProcessLimits:
        """Return the limits of each process."""
        return ProcessLimits(processes=self.processes, open_files=self.open_files, core=0)


def chown_tree(path: str, user: SlotUser) -> None:
    """Give a folder and its content to the user alone.

    Files with several names keep their owners.

    Raises:
        OSError: An owner or mode could not be changed.
    """
    os.chown(path, user.uid, user.gid)
    os.chmod(path, stat.S_IRWXU)
    for entry in _walk(path):
        status = entry.stat(follow_symlinks=False)
        if stat.S_ISDIR(status.st_mode) or status.st_nlink == 1:
            os.chown(entry.path, user.uid, user.gid, follow_symlinks=False)


def let_read(path: str, user: SlotUser) -> None:
    """Let only the user read what is in the folder, and not write there.

    Raises:
        OSError: An owner or mode could not be changed.
    """
    _restrict(path, user, 0o750)
    let_all_read_below(path)


def let_pass(path: str, user: SlotUser) -> None:
    """Let only the user pass through the folder, and not list it.

    Raises:
        OSError: An owner or mode could not be changed.
    """
    _restrict(path, user, 0o710)


def let_all_read_below(path: str) -> None:
    """Let everybody who may pass through the folder read what is in it.

    Only files of this process's user are changed.

    Raises:
        OSError: A mode could not be changed.
    """
    for entry in _walk(path):
        status = entry.stat(follow_symlinks=False)
        own = status.st_uid == os.geteuid() and not stat.S_ISLNK(status.st_mode)
        mode = status.st_mode | (status.st_mode >> 6 & 0o5)
        if own and mode != status.st_mode and (stat.S_ISDIR(mode) or status.st_nlink == 1):
            os.chmod(entry.path, stat.S_IMODE(mode))


def others_may_read(path: str) -> bool:
    """Return whether everybody who may enter its folder can read a file.

    The target of a link must be readable by everybody.

    Raises:
        OSError: The file does not exist.
    """
    if not os.stat(path).st_mode & _OTHERS_READ:
        return False
    real = os.path.realpath(path) if os.path.islink(path) else "/"
    while real != "/":
        real = os.path.dirname(real)
        if not os.stat(real).st_mode & _OTHERS_ENTER:
            return False
    return True


def _restrict(path: str, user: SlotUser, mode: int) -> None:
    os.chown(path, os.geteuid(), user.gid)
    os.chmod(path, mode)


def _walk(path: str) -> Iterator[os.DirEntry[str]]:
    """Yield the entries of a folder and of its inner folders that this process's user owns."""
    folders = [path]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                is_folder = entry.is_dir(follow_symlinks=False)
                if is_folder and entry.stat(follow_symlinks=False).st_uid == os.geteuid():
                    folders.append(entry.path)
                yield entry
