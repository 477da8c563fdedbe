"""Users of a system that was started for a command. It runs as long as it has users.

Each user holds a shared lock on the file ``users`` in the home folder, which the kernel releases
when the user's process ends. Who gets the exclusive lock is the only user: the system then ends,
and no other process can join meanwhile.
"""

import fcntl
import os
from types import TracebackType

from sluice.embedded.home import Home


class SystemUser:
    """Context manager for one user of the system in a home folder."""

    def __init__(self, home: Home) -> None:
        self._path = home.users
        self._file: int | None = None

    def __enter__(self) -> "SystemUser":
        self.join()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.leave()

    def join(self) -> None:
        """Join the users of the system, and wait while a system ends.

        Raises:
            OSError: The file cannot be opened or locked.
        """
        self._open()
        fcntl.flock(self._open(), fcntl.LOCK_SH)

    def is_alone(self) -> bool:
        """Return whether no other process uses the system. None joins from then until ``leave``."""
        try:
            fcntl.flock(self._open(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def leave(self) -> None:
        """Stop using the system. A repetition has no effect."""
        file, self._file = self._file, None
        if file is not None:
            os.close(file)

    def _open(self) -> int:
        if self._file is None:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = os.open(self._path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        return self._file
