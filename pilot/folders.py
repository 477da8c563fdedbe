"""Where a pilot keeps things on its node.

    <work_dir>/<name>/lock             held while a pilot of that name (or a process of its slots) lives
    <work_dir>/<name>/runs/<uid>/      one start of the pilot
        jobs/<id>.<attempt>/           the attempt's folder: in/ out/ tmp/, and ``placed`` once files go to storages
        spool/<id>.<attempt>.json      its report, until the WMS has answered it

An attempt writes ``placed`` (URLs) before its first file goes out, its report into the spool after the last, and removes its folder
before it tells the pilot. So wherever a kill strikes, what is left says which files nobody will ever report.
"""

import contextlib
import fcntl
import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from pilot.domain.model import Token
from sluice.storage import StorageError, remove

_PLACED = "placed"
_REPORT_SUFFIX = ".json"


def folder_name(token: Token) -> str:
    return f"{token[0]}.{token[1]}"


def token_from(name: str) -> Token | None:
    job, _, attempt = name.removesuffix(_REPORT_SUFFIX).partition(".")
    return (int(job), int(attempt)) if job.isdigit() and attempt.isdigit() else None


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Folder of one start of a pilot."""

    path: Path

    @property
    def uid(self) -> UUID:
        return UUID(self.path.name)

    @property
    def jobs(self) -> Path:
        return self.path / "jobs"

    @property
    def spool(self) -> Path:
        return self.path / "spool"

    def make(self) -> None:
        self.jobs.mkdir(parents=True, exist_ok=True)
        self.spool.mkdir(exist_ok=True)

    def job(self, token: Token) -> Path:
        return self.jobs / folder_name(token)

    def unfinished(self) -> list[Token]:
        """Attempts whose folder is still there."""
        names = os.listdir(self.jobs) if self.jobs.is_dir() else []
        return sorted(token for name in names if (token := token_from(name)) is not None)

    def has_report(self, token: Token) -> bool:
        return (self.spool / (folder_name(token) + _REPORT_SUFFIX)).exists()

    def clear_job(self, token: Token) -> bool:
        """Removes what an attempt left: its files on storages, unless its report is in the spool, and its folder.

        Returns whether there is a report. Nothing may run in the folder any more.
        """
        reported = self.has_report(token)
        folder = self.job(token)
        if not reported:
            for url in read_placed(folder):
                with contextlib.suppress(StorageError):  # a storage that is away now: its auditor finds the file
                    remove(url)
        shutil.rmtree(folder, ignore_errors=True)
        return reported


def write_placed(folder: str, urls: list[str]) -> None:
    """Notes, before they are written, the files that an attempt puts on storages."""
    with open(f"{folder}/{_PLACED}", "w") as file:
        file.write("\n".join(urls))


def read_placed(folder: Path) -> list[str]:
    with contextlib.suppress(FileNotFoundError):
        return [url for url in (folder / _PLACED).read_text().split("\n") if url]
    return []


class FolderInUseError(Exception):
    """Another pilot of this name works in the folder."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path}: another pilot of this name is running here; give this one another name or folder")
        self.path = path


@dataclass(frozen=True, slots=True)
class PilotFolder:
    """``lock``: file descriptor, to be inherited by the processes of the slots: as long as one of them lives, it is held."""

    path: Path
    lock: int

    def run(self, uid: UUID) -> RunFolder:
        run = RunFolder(self.path / "runs" / str(uid))
        run.make()
        return run

    def earlier_runs(self, uid: UUID) -> list[RunFolder]:
        runs = self.path / "runs"
        return [RunFolder(path) for path in sorted(runs.iterdir()) if path.name != str(uid)] if runs.is_dir() else []

    def close(self) -> None:
        os.close(self.lock)


def open_folder(path: Path, *, patience: float) -> PilotFolder:
    """Takes the folder for this process alone, waiting ``patience`` seconds for an earlier pilot's processes to end.

    Raises ``FolderInUseError``.
    """
    path.mkdir(parents=True, exist_ok=True)
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
