"""Files that a program sees which stays while its inputs change: one set after the other is put
into folders that it sees already.

What the process that holds the sandbox mounts there, it sees as well: its namespace follows this
one's. Nothing that is mounted in its own comes back here.
"""

import os
import stat
from collections.abc import Sequence

from pilot.sandbox.kernel import bind, bind_again, follow, hide, mount_memory, pass_on, unmount

#: In it lie the folders, by number; no program sees it here.
PLACE = "/.changing"
#: What is about to be put there, made so that it can only be read.
_STAGED = "/.staged"


class ChangingInputs:
    """Of one program. ``entered`` is called in its namespace."""

    def __init__(self, folders: int) -> None:
        """Raises ``OSError``."""
        self._shown: list[str] = []
        self._folders = folders
        os.mkdir(PLACE)
        mount_memory(PLACE, "mode=755")
        pass_on(PLACE)
        for number in range(folders):
            os.mkdir(f"{PLACE}/{number}")

    def show(self, files: Sequence[tuple[str, int, str]]) -> None:
        """In place of what was shown before. ``files``: each with where it is found, the number of
        the folder that it is to be seen in, and its path there. Raises ``OSError``."""
        for place in reversed(self._shown):
            unmount(place)
        for place in reversed(self._shown):
            self._remove(place)
        self._shown = []
        for source, number, path in files:
            self._put(source, f"{PLACE}/{number}/{path}")

    def close(self) -> None:
        """Raises ``OSError``."""
        self.show([])
        unmount(PLACE)
        os.rmdir(PLACE)

    def _put(self, source: str, place: str) -> None:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        is_folder = stat.S_ISDIR(os.stat(source).st_mode)
        for target in (place, _STAGED):
            if is_folder:
                os.mkdir(target)
            else:
                os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        self._shown.append(place)
        try:
            # What is mounted is passed on at once, so that it has to be as it is meant to be by
            # then.
            bind(source, _STAGED, writable=False)
            try:
                bind_again(_STAGED, place)
            finally:
                unmount(_STAGED)
        finally:
            _delete(_STAGED)

    def _remove(self, place: str) -> None:
        """With the folders that were made for it, and that nothing else needs."""
        _delete(place)
        folder = os.path.dirname(place)
        while folder.count("/") > PLACE.count("/") + 1 and not os.listdir(folder):
            os.rmdir(folder)
            folder = os.path.dirname(folder)


def entered() -> None:
    """In the program's namespace, before its folders are put in their places."""
    follow(PLACE)


def hidden() -> None:
    """In the program's namespace, once they are."""
    hide(PLACE)


def _delete(place: str) -> None:
    if stat.S_ISDIR(os.lstat(place).st_mode):
        os.rmdir(place)
    else:
        os.unlink(place)
