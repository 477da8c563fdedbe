"""Where a pilot keeps things on its node.

    <work_dir>/<name>/lock             held while a pilot of that name (or a process of its slots) lives
    <work_dir>/<name>/runs/<uid>/      one start of the pilot
        jobs/<id>.<attempt>/           the attempt's folder: in/ out/ tmp/
        placed/<id>.<attempt>          URLs of the files that it puts on storages
        spool/<id>.<attempt>.json      its report, until the WMS has answered it

An attempt notes ``placed`` before its first file goes out, writes its report into the spool after the last, and removes the note
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

    @property
    def placed(self) -> Path:
        return self.path / "placed"

    def make(self) -> None:
        for folder in (self.jobs, self.spool, self.placed):
            folder.mkdir(parents=True, exist_ok=True)

    def delete(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)

    def job(self, token: Token) -> Path:
        return self.jobs / folder_name(token)

    def unfinished(self) -> list[Token]:
        """Attempts whose folder or note is still there."""
        names = {name for folder in (self.jobs, self.placed) if folder.is_dir() for name in os.listdir(folder)}
        return sorted(token for name in names if (token := token_from(name)) is not None)

    def has_report(self, token: Token) -> bool:
        return (self.spool / (folder_name(token) + _REPORT_SUFFIX)).exists()

    def clear_job(self, token: Token) -> bool:
        """Removes what an attempt left: its files on storages, unless its report is in the spool, and its folder.

        Returns whether there is a report. Nothing may run in the folder any more.
        """
        reported = self.has_report(token)
        if not reported:
            for url in self._read_placed(token):
                with contextlib.suppress(StorageError):  # a storage that is away now: its auditor finds the file
                    remove(url)
        self.forget_placed(token)
        shutil.rmtree(self.job(token), ignore_errors=True)
        return reported

    def note_placed(self, token: Token, urls: list[str]) -> None:
        with open(self.placed / folder_name(token), "w") as file:
            file.write("\n".join(urls))

    def forget_placed(self, token: Token) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.placed / folder_name(token))

    def _read_placed(self, token: Token) -> list[str]:
        with contextlib.suppress(FileNotFoundError):
            return [url for url in (self.placed / folder_name(token)).read_text().split("\n") if url]
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
