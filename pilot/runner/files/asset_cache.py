"""Cache of asset files on a node, by checksum.

Each file is fetched and verified once for all slots of a pilot. Slots use hard links to cached
files. An evicted file therefore lasts until its last job ends, and the number of links tells
whether a file is in use.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from pilot.runner.failures import stage_in_error
from sluice.contracts.jobs.job_inputs import InputFile
from sluice.storage import StorageError, fetch

_LOCKS, _FILES, _SPACE = "locks", "files", "space"
#: Suffixes of a file's name: its state after verification, the size of a running download, and the
#: downloaded part.
_VERIFIED, _RUNNING, _PART = ".verified", ".coming", ".part"


@dataclass(frozen=True, slots=True)
class AssetCache:
    """A cache of the files of assets.

    Several processes may use it at the same time.

    Attributes:
        folder: Its folder.
        max_bytes: The most bytes of its files.
    """

    folder: str
    max_bytes: int

    def link_file(self, file: InputFile, path: str) -> bool:
        """Create a link to the file at ``path`` and replace what was there.

        Returns:
            False if the cache has no space for the file or no link is possible.

        Raises:
            AttemptError: The file could not be fetched.
            OSError: The cache could not be read or written.
        """
        name = file.checksum.removeprefix("sha256:")
        for kind in (_LOCKS, _FILES):
            os.makedirs(f"{self.folder}/{kind}", mode=0o700, exist_ok=True)
        place = f"{self.folder}/{_FILES}/{name}"
        # A second process waits for the first, and finds the file.
        with _lock(self._lock_path(name)):
            if not _is_verified(place) and not self._download(file, place):
                return False
            os.utime(place + _VERIFIED)  # The file used last is evicted last.
            return _try_link(place, path)

    def _lock_path(self, name: str) -> str:
        return f"{self.folder}/{_LOCKS}/{name}"

    def _download(self, file: InputFile, place: str) -> bool:
        """Fetch a file and return whether there was space for it."""
        _remove(place)
        with _lock(self._lock_path(_SPACE)):
            if not self._has_space(file.size):
                return False
            with open(place + _RUNNING, "w") as record:
                json.dump(file.size, record)
        try:
            part = place + _PART
            fetch(file.url, part, checksum=file.checksum, size=file.size, copied_bytes=file.size)
            os.chmod(part, 0o444)
            os.replace(part, place)
            with open(place + _VERIFIED, "w") as record:
                json.dump(_read_state(place), record)
        except StorageError as error:
            raise stage_in_error(file.name, error) from error
        finally:
            _remove_file(place + _RUNNING)
        return True

    def _has_space(self, size: int) -> bool:
        """Evict unused files as necessary, and return whether there is space.

        The caller holds the lock on the space.
        """
        entries = sorted(self._list_entries(), key=lambda entry: entry.used)
        total = sum(entry.size for entry in entries) + sum(self._list_download_sizes())
        for entry in entries:
            if total + size <= self.max_bytes:
                break
            if self._evict(entry.path):
                total -= entry.size
        return total + size <= self.max_bytes

    def _evict(self, path: str) -> bool:
        """Evict a file unless a slot uses it or is about to use it."""
        with _lock(self._lock_path(os.path.basename(path)), wait=False) as is_locked:
            with suppress(FileNotFoundError):
                if is_locked and os.stat(path).st_nlink == 1:
                    _remove(path)
                    return True
            return False

    def _list_entries(self) -> Iterator["_Entry"]:
        for record in self._list_paths(_VERIFIED):
            path = record.removesuffix(_VERIFIED)
            with suppress(FileNotFoundError):
                status = os.stat(path)
                yield _Entry(path, status.st_size, used=os.stat(record).st_mtime)

    def _list_download_sizes(self) -> Iterator[int]:
        """Yield the sizes of running downloads in bytes.

        Files of killed downloads are removed.
        """
        for record in self._list_paths(_RUNNING):
            path = record.removesuffix(_RUNNING)
            with _lock(self._lock_path(os.path.basename(path)), wait=False) as is_locked:
                if is_locked:
                    for leftover in (path + _PART, record):
                        _remove_file(leftover)
                    continue
            with suppress(FileNotFoundError, ValueError), open(record) as file:
                yield int(json.load(file))

    def _list_paths(self, suffix: str) -> list[str]:
        with os.scandir(f"{self.folder}/{_FILES}") as entries:
            return [entry.path for entry in entries if entry.name.endswith(suffix)]


@dataclass(frozen=True, slots=True)
class _Entry:
    """A cached file.

    Attributes:
        used: The time of its last use.
    """

    path: str
    size: int
    used: float


def _read_state(path: str) -> list[int]:
    status = os.stat(path)
    return [status.st_ino, status.st_size, status.st_mtime_ns]


def _is_verified(path: str) -> bool:
    """Return whether the file is unchanged since it was verified."""
    try:
        with open(f"{path}{_VERIFIED}") as record:
            return bool(json.load(record) == _read_state(path))
    except (FileNotFoundError, ValueError):
        return False


def _try_link(place: str, path: str) -> bool:
    _remove_file(path)
    try:
        os.link(place, path)
    except OSError:  # The path is on another file system.
        return False
    return True


def _remove(place: str) -> None:
    """Remove a cached file and first the record of its state."""
    _remove_file(place + _VERIFIED)
    _remove_file(place)


def _remove_file(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)


@contextmanager
def _lock(path: str, *, wait: bool = True) -> Iterator[bool]:
    """Hold a lock and yield whether it was obtained.

    The lock ends with the process.
    """
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield True
    except BlockingIOError:
        yield False
    finally:
        os.close(lock)
