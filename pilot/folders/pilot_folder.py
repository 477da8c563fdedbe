"""The folder of all pilots with the same name on a node, which run one after the other."""

import fcntl
import os
import stat
import time
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from pilot.folders.ownership import PASSAGE, PRIVATE, make_own_folder
from pilot.folders.run_folder import RunFolder


class FolderInUseError(Exception):
    """Another pilot of this name works in the folder."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path}: another pilot of this name is running here; give this one another name or"
            " folder"
        )
        self.path = path


@dataclass(frozen=True, slots=True)
class PilotFolder:
    """The locked folder of a pilot.

    Attributes:
        lock: A file descriptor that the slot processes inherit. The lock is held while any of them
            lives.
    """

    path: Path
    lock: int

    @property
    def key(self) -> Path:
        """Return the path of the key by which the WMS recognizes the pilots of this folder."""
        return self.path / "key"

    def run(self, uid: UUID) -> RunFolder:
        """Create the folder of a run."""
        run = RunFolder(self.path / "runs" / str(uid))
        run.make()
        return run

    def earlier_runs(self, uid: UUID) -> list[RunFolder]:
        """Return the folders of all other runs."""
        runs = self.path / "runs"
        return (
            [RunFolder(path) for path in sorted(runs.iterdir()) if path.name != str(uid)]
            if runs.is_dir()
            else []
        )

    def let_users_pass(self, run: RunFolder) -> None:
        """Let the users of slots reach the folders of the run's jobs.

        They cannot list the folders on the way.

        Raises:
            OSError: A mode could not be changed.
        """
        for other in self.earlier_runs(run.uid):
            other.path.chmod(PRIVATE)
        run.let_users_pass()
        for folder in (self.path / "runs", self.path):
            folder.chmod(PASSAGE)
        above = self.path.parent
        above.chmod(stat.S_IMODE(above.stat().st_mode) | stat.S_IXGRP | stat.S_IXOTH)

    def keep_users_out(self) -> None:
        """Close the folder to other users again.

        Raises:
            OSError: The mode could not be changed.
        """
        self.path.chmod(PRIVATE)

    def close(self) -> None:
        """Release the lock."""
        os.close(self.lock)


def open_folder(path: Path, *, patience: float) -> PilotFolder:
    """Lock the folder for this process.

    The function waits up to ``patience`` seconds for the processes of an earlier pilot to end.

    Raises:
        FolderInUseError: Another pilot of this name still runs.
        UnsafeFolderError: Others may have written to the folder.
    """
    path = make_own_folder(make_own_folder(path.parent) / path.name, mode=PRIVATE)
    lock = os.open(path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    deadline = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return PilotFolder(path, lock)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                os.close(lock)
                raise FolderInUseError(path) from None
            time.sleep(0.05)
