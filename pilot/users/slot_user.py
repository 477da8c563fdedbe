"""The user that a slot's tools run as, and what it can do in the job's folders."""

import os
import stat
from collections.abc import Iterator

from pilot.sandbox.process_limits import ProcessLimits
from sluice.contracts.base import Contract

_OTHERS_READ, _OTHERS_ENTER = stat.S_IROTH, stat.S_IXOTH


class SlotUser(Contract):
    """``gid``: its only group, that no other slot's user has. ``processes``: the most that it may
    have at a time; ``open_files``: each of them."""

    name: str
    uid: int
    gid: int
    processes: int = 4096
    open_files: int = 16384

    @property
    def limits(self) -> ProcessLimits:
        return ProcessLimits(processes=self.processes, open_files=self.open_files, core=0)


def give(path: str, user: SlotUser) -> None:
    """The folder is the user's alone, with what lies in it; files that have further names stay
    whose they are. Raises ``OSError``."""
    os.chown(path, user.uid, user.gid)
    os.chmod(path, stat.S_IRWXU)
    for entry in _below(path):
        found = entry.stat(follow_symlinks=False)
        if stat.S_ISDIR(found.st_mode) or found.st_nlink == 1:
            os.chown(entry.path, user.uid, user.gid, follow_symlinks=False)


def let_read(path: str, user: SlotUser) -> None:
    """The user, and no other, reads what is in the folder, and writes nothing there. Raises
    ``OSError``."""
    _keep(path, user, 0o750)
    let_all_read_below(path)


def let_pass(path: str, user: SlotUser) -> None:
    """The user, and no other, goes through the folder, and does not see what is in it. Raises
    ``OSError``."""
    _keep(path, user, 0o710)


def let_all_read_below(path: str) -> None:
    """Whoever may go through the folder reads what this process's user has made in it. Raises
    ``OSError``."""
    for entry in _below(path):
        found = entry.stat(follow_symlinks=False)
        own = found.st_uid == os.geteuid() and not stat.S_ISLNK(found.st_mode)
        wanted = found.st_mode | (found.st_mode >> 6 & 0o5)
        if own and wanted != found.st_mode and (stat.S_ISDIR(wanted) or found.st_nlink == 1):
            os.chmod(entry.path, stat.S_IMODE(wanted))


def others_may_read(path: str) -> bool:
    """Can a file be read by everybody who may enter its folder? One that it is a link to, by
    everybody. Raises ``OSError``."""
    if not os.stat(path).st_mode & _OTHERS_READ:
        return False
    real = os.path.realpath(path) if os.path.islink(path) else "/"
    while real != "/":
        real = os.path.dirname(real)
        if not os.stat(real).st_mode & _OTHERS_ENTER:
            return False
    return True


def _keep(path: str, user: SlotUser, mode: int) -> None:
    os.chown(path, os.geteuid(), user.gid)
    os.chmod(path, mode)


def _below(path: str) -> Iterator[os.DirEntry[str]]:
    """What lies in the folder, and in those of its folders that are this process's user's."""
    folders = [path]
    while folders:
        with os.scandir(folders.pop()) as found:
            for entry in found:
                is_folder = entry.is_dir(follow_symlinks=False)
                if is_folder and entry.stat(follow_symlinks=False).st_uid == os.geteuid():
                    folders.append(entry.path)
                yield entry
