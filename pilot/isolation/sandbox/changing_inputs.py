"""Changing inputs of a warm worker in a sandbox.

Each set of files is mounted into folders that the program already sees. Mounts of the sandbox's
holder propagate to the namespace of the program, as it follows the holder's. Mounts of the program
do not come back.
"""

import os
import stat
from collections.abc import Sequence

from pilot.isolation.sandbox.kernel import (
    bind,
    bind_copy,
    hide,
    mount_memory,
    propagate_mounts,
    receive_mounts,
    unmount,
)

#: Place of the numbered folders, which no program sees here.
PLACE = "/.changing"
#: A mount that is made read-only before it is shown.
_STAGED = "/.staged"


class ChangingInputs:
    """Changing inputs of one program.

    The program calls ``follow_mounts`` in its namespace.
    """

    def __init__(self, folders: int) -> None:
        """Create the folders.

        Raises:
            OSError: A folder could not be created or mounted.
        """
        self._mounted: list[str] = []
        self._folders = folders
        os.mkdir(PLACE)
        mount_memory(PLACE, "mode=755")
        propagate_mounts(PLACE)
        for number in range(folders):
            os.mkdir(f"{PLACE}/{number}")

    def show(self, files: Sequence[tuple[str, int, str]]) -> None:
        """Show files in place of those shown before.

        Each file has its source, the number of a folder and its path there.

        Raises:
            OSError: A file could not be mounted.
        """
        for place in reversed(self._mounted):
            unmount(place)
        for place in reversed(self._mounted):
            self._remove(place)
        self._mounted = []
        for source, number, path in files:
            self._mount_file(source, f"{PLACE}/{number}/{path}")

    def close(self) -> None:
        """Remove the folders.

        Raises:
            OSError: A folder could not be unmounted.
        """
        self.show([])
        unmount(PLACE)
        os.rmdir(PLACE)

    def _mount_file(self, source: str, place: str) -> None:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        is_folder = stat.S_ISDIR(os.stat(source).st_mode)
        for target in (place, _STAGED):
            if is_folder:
                os.mkdir(target)
            else:
                os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        self._mounted.append(place)
        try:
            # A mount propagates at once, so it must already be read-only.
            bind(source, _STAGED, writable=False)
            try:
                bind_copy(_STAGED, place)
            finally:
                unmount(_STAGED)
        finally:
            _delete(_STAGED)

    def _remove(self, place: str) -> None:
        """Remove a place and the empty folders above it."""
        _delete(place)
        folder = os.path.dirname(place)
        while folder.count("/") > PLACE.count("/") + 1 and not os.listdir(folder):
            os.rmdir(folder)
            folder = os.path.dirname(folder)


def follow_mounts() -> None:
    """Follow the holder's mounts, in the program's namespace before its folders are placed."""
    receive_mounts(PLACE)


def hide_folders() -> None:
    """Hide the numbered folders, in the program's namespace after its folders are placed."""
    hide(PLACE)


def _delete(place: str) -> None:
    if stat.S_ISDIR(os.lstat(place).st_mode):
        os.rmdir(place)
    else:
        os.unlink(place)
