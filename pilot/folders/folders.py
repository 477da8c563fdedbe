"""Where a pilot keeps things on its node.

<work_dir>/<name>/          nobody else may look into it, or put anything there
(``pilot.folders.ownership``) <work_dir>/<name>/lock          held while a pilot of that name (or a process
of its slots) lives <work_dir>/<name>/runs/<uid>/   one start of the pilot
    journals/                   what attempts have done (``pilot.reports.journal``)
    held                        the jobs it had when it last got some
    memory_group                where the groups of its slots are (``pilot.node.memory_groups``)
    slots/<pid>-<n>/            the folder that one slot's jobs work in, one after the other
    slots/<pid>-spare/          files for their inputs (``pilot.folders.spares``)
    phases/<pid>                what one slot is at (``pilot.runner.phase_note``)
    shared/<pid>/<task>/        files that all jobs of a task are given, as one slot keeps them
"""

import contextlib
import fcntl
import json
import os
import secrets
import shutil
import stat
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

from pilot.domain.model import Token
from pilot.folders.ownership import own_folder
from pilot.folders.plain_names import PlainName
from pilot.folders.spares import Spares

#: A job's own folders: its inputs, where it runs and writes, its temporary files.
IN, OUT, TMP = "in", "out", "tmp"

_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC

#: Bytes free without which no job can be prepared or run.
ROOM = 16 << 20


def has_room(folder: Path | str) -> bool:
    """Has the disk of a work folder any room left? Without, each job would fail at once."""
    return shutil.disk_usage(folder).free >= ROOM


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Folder of one start of a pilot."""

    path: Path

    @property
    def uid(self) -> UUID:
        return UUID(self.path.name)

    @property
    def journals(self) -> Path:
        return self.path / "journals"

    def make(self) -> None:
        self.journals.mkdir(parents=True, exist_ok=True)

    def note_held(self, tokens: Iterable[Token]) -> None:
        (self.path / "held").write_text(json.dumps(list(tokens)))

    def held(self) -> list[Token]:
        """Empty where a kill struck while it was being written."""
        try:
            return [(token[0], token[1]) for token in json.loads((self.path / "held").read_text())]
        except (OSError, ValueError):
            return []

    def note_memory_group(self, folder: str) -> None:
        with contextlib.suppress(OSError):  # a full disk: no reason not to run
            (self.path / "memory_group").write_text(folder)

    def memory_group(self) -> str | None:
        """None where it had none."""
        with contextlib.suppress(OSError):
            return (self.path / "memory_group").read_text() or None
        return None

    def delete(self) -> None:
        self._slots.forget()
        delete_tree(self.path)

    def phase_file(self, pid: int) -> Path:
        return self.path / "phases" / str(pid)

    def shared_folder(self, pid: int) -> str:
        return f"{self.path}/shared/{pid}"

    def work_folder(self, pid: int) -> "WorkFolder":
        return WorkFolder(f"{os.path.realpath(self.path)}/slots/{pid}", self._slots)

    @property
    def _slots(self) -> PlainName:
        return PlainName(f"{os.path.realpath(self.path)}/slots", self.path.name)


class Folder(NamedTuple):
    """``descriptor``: of the folder itself, whatever its path leads to later."""

    path: str
    descriptor: int


class WorkFolder:
    """The folder that the jobs of one slot work in. It is emptied between jobs, not made anew: new
    folders are dear on a disk. ``base``: without links in it, as are the paths here then.
    ``plain``: of the folder that it lies in, what it is called without a dot."""

    def __init__(self, base: str, plain: PlainName) -> None:
        self.spares = Spares(f"{base}-spare")
        self._base = base
        self._plain = plain
        self._number = 0
        #: The job's, and after it what was kept of earlier ones.
        self.folders: list[Folder] = []
        self._open_next()

    @property
    def path(self) -> str:
        return self.folders[0].path

    def known(self, *, plain: bool) -> list[Folder]:
        """The folders by all their names, first the one by which the job is to know its own.
        ``plain``: without a dot, where that can be; not for engines of containers, which may see no
        other than its real name."""
        own = self.folders[0]
        name = f"{self._plain.now()}/{os.path.basename(own.path)}" if plain else own.path
        return [*([] if name == own.path else [Folder(name, own.descriptor)]), *self.folders]

    def open_stream(self, name: str) -> int:
        """``stdout`` or ``stderr``: an empty file to append to, as a descriptor; the file itself is
        used again and again, unless something else stands there, which an earlier tool has left."""
        root = self.folders[0].descriptor
        try:
            descriptor = os.open(name, _APPEND | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600, dir_fd=root)
        except OSError:
            return self._new_stream(name)
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
            os.close(descriptor)
            return self._new_stream(name)
        os.ftruncate(descriptor, 0)
        return descriptor

    def _new_stream(self, name: str) -> int:
        delete_tree(f"{self.path}/{name}")
        return os.open(name, _APPEND | os.O_EXCL, 0o600, dir_fd=self.folders[0].descriptor)

    def keep(self) -> str:
        """Where a job keeps what is not to be seen by what it runs next. Raises ``OSError``."""
        if len(self.folders) == 1:
            os.mkdir(f"{self._base}-kept")
            self.folders.append(_opened(f"{self._base}-kept"))
        return self.folders[1].path

    def clear(self) -> None:
        """Nothing of the last job is left for the next. Raises ``OSError`` where not even a new
        folder can be made."""
        for folder in self.folders[1:]:
            delete_tree(folder.path)
            os.close(folder.descriptor)
        del self.folders[1:]
        self.empty()

    def empty(self) -> None:
        """Nothing but what is kept is left of what ran last. Raises as ``clear``."""
        try:
            _empty(f"{self.path}/{IN}", take=self.spares.take)
            for name in (OUT, TMP):
                _empty(f"{self.path}/{name}")
        except OSError:  # the tool has taken away our rights in it
            delete_tree(self.path)
            self._open_next()

    def _open_next(self) -> None:
        self._number += 1
        path = f"{self._base}-{self._number}"
        for name in (IN, OUT, TMP):
            os.makedirs(f"{path}/{name}")
        for folder in self.folders[:1]:
            os.close(folder.descriptor)
        self.folders[:1] = [_opened(path)]


def _opened(path: str) -> Folder:
    return Folder(path, os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC))


def delete_tree(path: Path | str) -> None:
    """Deletes a folder, also what a tool has taken the rights to away from, or has made too deep
    for a path or the stack; what cannot be deleted is left. A link, or whatever else stands there,
    is removed itself."""
    try:
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            os.unlink(path)
            return
        shutil.rmtree(path)
    except FileNotFoundError:
        return
    except (OSError, RecursionError):
        _flatten(path)
        shutil.rmtree(path, ignore_errors=True)


def _flatten(path: Path | str) -> None:
    """Every folder in it is moved right below it, and open to us."""
    waiting, prefix, number = [str(path)], secrets.token_hex(8), 0
    while waiting:
        folder = waiting.pop()
        for inner in _folders_in(folder):
            number += 1
            place = inner if folder == str(path) else f"{path}/{prefix}-{number}"
            with contextlib.suppress(OSError):
                os.chmod(inner, stat.S_IRWXU)
                os.rename(inner, place)
                waiting.append(place)


def _folders_in(folder: str) -> list[str]:
    """Links to folders are none."""
    with contextlib.suppress(OSError):
        os.chmod(folder, stat.S_IRWXU)
        with os.scandir(folder) as found:
            return [entry.path for entry in found if entry.is_dir(follow_symlinks=False)]
    return []


def _empty(folder: str, *, take: Callable[[os.DirEntry[str]], bool] | None = None) -> None:
    """``take``: may take files away itself."""
    if os.path.islink(folder):
        os.unlink(folder)
    try:
        with os.scandir(folder) as found:
            for entry in found:
                if entry.is_dir(follow_symlinks=False):
                    delete_tree(entry.path)
                elif take is None or not take(entry):
                    os.unlink(entry.path)
    except FileNotFoundError:  # the tool has removed it
        os.mkdir(folder)


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

    def close(self) -> None:
        os.close(self.lock)


def open_folder(path: Path, *, patience: float) -> PilotFolder:
    """Takes the folder for this process alone, waiting ``patience`` seconds for an earlier pilot's
    processes to end.

    Raises ``FolderInUseError``; ``UnsafeFolderError`` where what lies in it may be somebody else's.
    """
    path = own_folder(own_folder(path.parent) / path.name, private=True)
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
