"""A file system of its own for the storages, small enough to be filled."""

import errno
import os
import subprocess
from pathlib import Path

_BALLAST = "ballast"
#: Bytes taken in one go; smaller and smaller pieces follow, until not one is left.
_LARGEST = 1 << 28


class SmallDisk:
    """A tmpfs at ``folder``. Where mounting is not allowed, ``full`` is False: then writing is
    refused instead, for lack of the right to, which users other than root notice."""

    def __init__(self, folder: Path, *, megabytes: int) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        options = f"size={megabytes}m,mode=755"
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "sluice-faults", str(folder)],
            capture_output=True,
            check=False,
        )
        self.full = done.returncode == 0
        self._modes: dict[Path, int] = {}

    def fill(self) -> None:
        """To the last byte, and keeps it so; what others free meanwhile they may use."""
        if not self.full:
            self._refuse()
            return
        descriptor = os.open(self.folder / _BALLAST, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            size = _LARGEST
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
        if self.full:
            subprocess.run(["umount", "--lazy", str(self.folder)], capture_output=True, check=False)
            self.full = False

    def _refuse(self) -> None:
        for path in self.folder.iterdir():
            if path.is_dir():
                self._modes[path] = path.stat().st_mode & 0o7777
                path.chmod(0o555)
