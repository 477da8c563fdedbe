"""Reuse of input files of ended jobs for the inputs of the next jobs.

Creating files is slow on a disk on which many files come and go. Ext4, for example, avoids blocks
freed within the last minutes. For small jobs the search takes as long as the job.
"""

import os
import stat

from pilot.folders.attributes import list_attributes
from pilot.folders.file_size import MIN_FILE_BYTES
from pilot.folders.ownership import PRIVATE

#: Bytes on disk of the largest file that is kept, and of all of them.
_MAX_SIZE, _MAX_TOTAL = 1 << 18, 64 << 20


class SpareFiles:
    """Files kept for reuse.

    ``folder`` must be on the disk of the jobs' folders. It is created.

    Raises:
        OSError: The folder could not be created.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._files: list[tuple[str, int]] = []
        self._bytes = 0
        self._number = 0
        self._mode = _get_new_file_mode()
        os.makedirs(folder, PRIVATE, exist_ok=True)

    def add(self, entry: os.DirEntry[str]) -> bool:
        """Move a file of an ended job to the spare files and return whether it was taken.

        Only small plain files without other links, attributes or owners are taken.
        """
        status = entry.stat(follow_symlinks=False)
        plain = (
            status.st_mode == self._mode and status.st_nlink == 1 and status.st_uid == os.geteuid()
        )
        size = max(MIN_FILE_BYTES, status.st_size, status.st_blocks * 512)
        if (
            not plain
            or list_attributes(entry.path)
            or size > _MAX_SIZE
            or self._bytes + size > _MAX_TOTAL
        ):
            return False
        path = f"{self._folder}/{self._number}"
        os.rename(entry.path, path)
        self._number += 1
        self._files.append((path, size))
        self._bytes += size
        return True

    def reuse(self, path: str) -> bool:
        """Move a spare file to ``path``, which must not exist.

        The content of the file is arbitrary.

        Returns:
            Whether a spare file was available.
        """
        if not self._files:
            return False
        spare, size = self._files.pop()
        self._bytes -= size
        os.rename(spare, path)
        return True


def _get_new_file_mode() -> int:
    umask = os.umask(0o077)
    os.umask(umask)
    return stat.S_IFREG | (0o666 & ~umask)
