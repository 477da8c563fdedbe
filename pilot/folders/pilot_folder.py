"""The folder of all pilots of a name on their node, one after the other."""

import fcntl
import os
import stat
import time
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from pilot.folders.ownership import PASSAGE, PRIVATE, own_folder
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
    """``lock``: file descriptor, to be inherited by the processes of the slots: as long as one of
    them lives, it is held."""

    path: Path
    lock: int

    @property
    def key(self) -> Path:
        """By which the pilots of this folder show the WMS that they are the ones they were."""
        return self.path / "key"

    def run(self, uid: UUID) -> RunFolder:
        run = RunFolder(self.path / "runs" / str(uid))
        run.make()
        return run

    def earlier_runs(self, uid: UUID) -> list[RunFolder]:
        runs = self.path / "runs"
        return (
            [RunFolder(path) for path in sorted(runs.iterdir()) if path.name != str(uid)]
            if runs.is_dir()
            else []
        )

    def let_users_pass(self, run: RunFolder) -> None:
        """To the folders of the run's jobs, where other users than this process's work: they see
        nothing on their way. Raises ``OSError``."""
        for other in self.earlier_runs(run.uid):
            other.path.chmod(PRIVATE)
        run.let_users_pass()
        for folder in (self.path / "runs", self.path):
            folder.chmod(PASSAGE)
        above = self.path.parent
        above.chmod(stat.S_IMODE(above.stat().st_mode) | stat.S_IXGRP | stat.S_IXOTH)

    def keep_users_out(self) -> None:
        """Again. Raises ``OSError``."""
        self.path.chmod(PRIVATE)

    def close(self) -> None:
        os.close(self.lock)


def open_folder(path: Path, *, patience: float) -> PilotFolder:
    """Takes the folder for this process alone, waiting ``patience`` seconds for an earlier pilot's
    processes to end.

    Raises ``FolderInUseError``; ``UnsafeFolderError`` where what lies in it may be somebody else's.
    """
    path = own_folder(own_folder(path.parent) / path.name, mode=PRIVATE)
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
