"""Files of assets that a node keeps, by their checksum: brought here once for all slots of a pilot,
verified, and for as long as there is room.

A slot that has one has a link to it. So a file that was pushed out lasts until the last job that
has it; and who counts the links knows whether somebody has it.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from pilot.runner.failures import stage_in_error
from sluice.contracts.job_inputs import InputFile
from sluice.storage import StorageError, fetch

_LOCKS, _FILES, _ROOM = "locks", "files", "room"
#: Behind a file's name: how it was when it was verified; that somebody brings it, and its size;
#: what has come of it.
_VERIFIED, _COMING, _PART = ".verified", ".coming", ".part"


@dataclass(frozen=True, slots=True)
class AssetCache:
    """In ``folder``, of at most ``most`` bytes. Several processes may use it at a time."""

    folder: str
    most: int

    def give(self, file: InputFile, path: str) -> bool:
        """A link to the file at ``path``, replacing what stood there. False: there is no room for
        it, or it cannot be linked from here. Raises ``AttemptError``, ``OSError``."""
        name = file.checksum.removeprefix("sha256:")
        for kind in (_LOCKS, _FILES):
            os.makedirs(f"{self.folder}/{kind}", mode=0o700, exist_ok=True)
        place = f"{self.folder}/{_FILES}/{name}"
        # Whoever comes second waits for the first, and finds what it has brought.
        with _locked(self._lock(name)):
            if not _is_verified(place) and not self._bring(file, place):
                return False
            os.utime(place + _VERIFIED)  # the one used last goes last
            return _linked(place, path)

    def _lock(self, name: str) -> str:
        return f"{self.folder}/{_LOCKS}/{name}"

    def _bring(self, file: InputFile, place: str) -> bool:
        """False where there is no room."""
        _remove(place)
        with _locked(self._lock(_ROOM)):
            if not self._has_room(file.size):
                return False
            with open(place + _COMING, "w") as noted:
                json.dump(file.size, noted)
        try:
            part = place + _PART
            fetch(file.url, part, checksum=file.checksum, size=file.size, copied=file.size)
            os.chmod(part, 0o444)
            os.replace(part, place)
            with open(place + _VERIFIED, "w") as noted:
                json.dump(_state_of(place), noted)
        except StorageError as error:
            raise stage_in_error(file.name, error) from error
        finally:
            _remove_file(place + _COMING)
        return True

    def _has_room(self, size: int) -> bool:
        """Makes it, as far as nobody has the files that are there. Nobody else does meanwhile."""
        kept = sorted(self._kept(), key=lambda entry: entry.used)
        total = sum(entry.size for entry in kept) + sum(self._coming())
        for entry in kept:
            if total + size <= self.most:
                break
            if self._push_out(entry.path):
                total -= entry.size
        return total + size <= self.most

    def _push_out(self, path: str) -> bool:
        """Not what somebody has, or is being given."""
        with _locked(self._lock(os.path.basename(path)), wait=False) as free:
            with suppress(FileNotFoundError):
                if free and os.stat(path).st_nlink == 1:
                    _remove(path)
                    return True
            return False

    def _kept(self) -> Iterator["_Entry"]:
        for verified in self._named(_VERIFIED):
            path = verified.removesuffix(_VERIFIED)
            with suppress(FileNotFoundError):
                status = os.stat(path)
                yield _Entry(path, status.st_size, used=os.stat(verified).st_mtime)

    def _coming(self) -> Iterator[int]:
        """Bytes of files that others are bringing; what a process left that was killed is
        removed."""
        for noted in self._named(_COMING):
            path = noted.removesuffix(_COMING)
            with _locked(self._lock(os.path.basename(path)), wait=False) as free:
                if free:
                    for left in (path + _PART, noted):
                        _remove_file(left)
                    continue
            with suppress(FileNotFoundError, ValueError), open(noted) as said:
                yield int(json.load(said))

    def _named(self, suffix: str) -> list[str]:
        with os.scandir(f"{self.folder}/{_FILES}") as found:
            return [item.path for item in found if item.name.endswith(suffix)]


@dataclass(frozen=True, slots=True)
class _Entry:
    """``used``: when it was given last."""

    path: str
    size: int
    used: float


def _state_of(path: str) -> list[int]:
    status = os.stat(path)
    return [status.st_ino, status.st_size, status.st_mtime_ns]


def _is_verified(path: str) -> bool:
    """Has nobody written to it since it was brought?"""
    try:
        with open(f"{path}{_VERIFIED}") as noted:
            return bool(json.load(noted) == _state_of(path))
    except (FileNotFoundError, ValueError):
        return False


def _linked(place: str, path: str) -> bool:
    _remove_file(path)
    try:
        os.link(place, path)
    except OSError:  # another file system
        return False
    return True


def _remove(place: str) -> None:
    """What is said of it goes first."""
    _remove_file(place + _VERIFIED)
    _remove_file(place)


def _remove_file(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)


@contextmanager
def _locked(path: str, *, wait: bool = True) -> Iterator[bool]:
    """False: somebody else has it. The lock goes with the process, however that ends."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield True
    except BlockingIOError:
        yield False
    finally:
        os.close(lock)
