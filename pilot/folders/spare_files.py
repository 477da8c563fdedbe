"""Copies of inputs that have had their job. The next jobs' are written over them: a disk on which
files come and go looks long for a place for each new one (ext4 passes over whatever was freed
within the last minutes), as long as small jobs take."""

import os
import stat

from pilot.folders.attributes import attributes
from pilot.folders.ownership import PRIVATE

#: Bytes on disk that a file counts at least: there are not too many of them, empty ones either.
_LEAST = 4096
#: Bytes on disk of the largest file that is kept, and of all of them.
_MOST, _MOST_TOGETHER = 1 << 18, 64 << 20


class SpareFiles:
    """``folder``: where they are kept, on the disk that the jobs' folders are on; it is made.
    ``OSError`` where it cannot be."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._kept: list[tuple[str, int]] = []
        self._bytes = 0
        self._number = 0
        self._mode = _mode_of_new_files()
        os.makedirs(folder, PRIVATE, exist_ok=True)

    def take(self, entry: os.DirEntry[str]) -> bool:
        """Takes a file of a job that is over; False: not that one. Only the plainest, that nobody
        else can have a hold on."""
        found = entry.stat(follow_symlinks=False)
        plain = found.st_mode == self._mode and found.st_nlink == 1 and found.st_uid == os.geteuid()
        size = max(_LEAST, found.st_size, found.st_blocks * 512)
        if (
            not plain
            or attributes(entry.path)
            or size > _MOST
            or self._bytes + size > _MOST_TOGETHER
        ):
            return False
        path = f"{self._folder}/{self._number}"
        os.rename(entry.path, path)
        self._number += 1
        self._kept.append((path, size))
        self._bytes += size
        return True

    def give(self, path: str) -> bool:
        """Puts one at ``path``, where nothing is yet; what is in it is of no meaning. False: there
        is none."""
        if not self._kept:
            return False
        kept, size = self._kept.pop()
        self._bytes -= size
        os.rename(kept, path)
        return True


def _mode_of_new_files() -> int:
    umask = os.umask(0o077)
    os.umask(umask)
    return stat.S_IFREG | (0o666 & ~umask)
