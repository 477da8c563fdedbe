"""A small file system for the storages, which can be filled."""

import errno
import os
import subprocess
from pathlib import Path

_BALLAST = "ballast"
#: Bytes to allocate at a time; smaller and smaller pieces follow until none is left.
_MAX_SIZE = 1 << 28


class SmallDisk:
    """A tmpfs at ``folder``.

    If mounting is not permitted, ``is_full`` is False, and file permissions prevent writing,
    which do not affect root.
    """

    def __init__(self, folder: Path, *, megabytes: int) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        if folder.is_mount():  # of a campaign that was killed
            _unmount(folder)
        options = f"size={megabytes}m,mode=755"
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "sluice-faults", str(folder)],
            capture_output=True,
            check=False,
        )
        self.is_full = done.returncode == 0
        self._modes: dict[Path, int] = {}

    def fill(self) -> None:
        """Fill the disk to the last byte; other processes may use what they free meanwhile."""
        if not self.is_full:
            self._forbid_writing()
            return
        descriptor = os.open(self.folder / _BALLAST, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            size = _MAX_SIZE
            while size:
                try:
                    os.posix_fallocate(descriptor, os.fstat(descriptor).st_size, size)
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise
                    size //= 4
        finally:
            os.close(descriptor)

    def clear(self) -> None:
        (self.folder / _BALLAST).unlink(missing_ok=True)
        for path, mode in self._modes.items():
            path.chmod(mode)
        self._modes.clear()

    def close(self) -> None:
        if self.is_full:
            _unmount(self.folder)
            self.is_full = False

    def _forbid_writing(self) -> None:
        for path in self.folder.iterdir():
            if path.is_dir():
                self._modes[path] = path.stat().st_mode & 0o7777
                path.chmod(0o555)


def _unmount(folder: Path) -> None:
    subprocess.run(["umount", "--lazy", str(folder)], capture_output=True, check=False)
