"""What programs see in a sandbox, made for a thread of the process that holds it, from which they
are started one after the other."""

import contextlib
import errno
import os
import resource
import shutil
import signal
import stat
from collections.abc import Sequence
from typing import Any

from pilot.sandbox import changing_inputs
from pilot.sandbox.kernel import (
    bind,
    bind_all,
    filter_calls,
    give_up_rights,
    hide,
    mount_memory,
    only_read,
    own_mounts,
    own_shared_memory,
    within_hard,
)

#: Where the folders lie from which programs get their files; no program sees it.
SOURCES = "/.sources"
_SHARED_MEMORY, _TMP = "/dev/shm", "/tmp"  # noqa: S108 - the program's own


class RoomError(Exception):
    """It cannot be made: where, and why."""


class ToolRoom:
    """``asked``: as a request has it. ``calls``: the filter on system calls, None: none for this
    kind of processor."""

    def __init__(self, asked: dict[str, Any], calls: bytes | None) -> None:
        self.asked = asked
        self._calls = calls
        #: Folders whose files change while a program runs.
        self._changing: list[str] = asked.get("changing", [])
        #: Places made in the file system whose root all programs see.
        self._made: list[str] = []
        #: File systems that nothing but this makes places in: their devices, and the folders where
        #: those are mounted.
        self._own = {os.stat("/").st_dev}
        self._ways: list[str] = []
        self._new: object = None
        self._in_shared_memory = set[str]()
        #: This process's own.
        self._limits: list[tuple[int, tuple[int, int]]] = []

    def enter(self) -> None:
        """With this thread, for good: it keeps no rights but those to renew shared memory and to
        end programs. The limits are this process's as well. Raises ``RoomError``."""
        place = "the namespaces"
        try:
            own_mounts()
            place = _SHARED_MEMORY
            mount_memory(place, f"mode=1777,size={self.asked['shared_memory']}")
            if self._changing:
                changing_inputs.entered()
            files = sorted(self.asked["files"], key=lambda file: file[1] != _TMP)
            after_tmp = sum(file[1] == _TMP for file in files)
            for source, place, writable, *number in files[:after_tmp]:
                self._put_file(source, place, number, writable=writable)
            for source, place in self.asked["system"]:
                self._put_system(source, place)
            for source, place, writable, *number in files[after_tmp:]:
                self._put_file(source, place, number, writable=writable)
            for number, place in enumerate(self._changing):
                self._put(f"{changing_inputs.PLACE}/{number}", place)
            for place, target in self.asked["links"].items():
                self._link(place, target)
            place = SOURCES
            hide(place)
            if self._changing:
                changing_inputs.hidden()
            for place in ("/", *self._ways):
                only_read(place)
            give_up_rights()
            place = "its limits"
            for number, most in self.asked["limits"]:
                soft, hard = resource.getrlimit(number)
                self._limits.append((number, (soft, hard)))
                resource.setrlimit(number, (within_hard(number, most), hard))
            self._new = _state(_SHARED_MEMORY)
            self._in_shared_memory = set(os.listdir(_SHARED_MEMORY))
            if self._calls is not None:
                filter_calls(self._calls)
        except OSError as error:
            raise RoomError(f"{place}: {error.strerror}") from error

    def start(self, request: dict[str, Any], streams: Sequence[int]) -> int:
        """A program, with shared memory of its own, and ``streams`` for standard output and error,
        before them one for standard input where the request has no path for that: its pid. Raises
        ``RoomError``; ``OSError`` where there is no such program."""
        place = "a namespace for shared memory"
        try:
            own_shared_memory()
            place = request["folder"]
            os.chdir(place)
            place = request["stdin"] or "/"
            # Whatever it is, nobody waits for who writes to it.
            stdin = os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            raise RoomError(f"{place}: {error.strerror}") from error
        try:
            os.set_blocking(stdin, True)
            return os.posix_spawn(
                program_file(request["arguments"][0], request["environment"]),
                request["arguments"],
                request["environment"],
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, descriptor, number)
                    for number, descriptor in enumerate(
                        (stdin, *streams) if request["stdin"] else streams
                    )
                ],
                setsid=True,
                setsigmask=(),
                setsigdef=[signal.SIGPIPE, signal.SIGXFSZ],
            )
        finally:
            os.close(stdin)

    def is_as_new(self) -> bool:
        """Has no program left anything in it that the next one could find? (Folders of the job's
        are emptied outside.)"""
        return _state(_SHARED_MEMORY) == self._new

    def empty_shared_memory(self) -> None:
        """Between two jobs of a program that stays. What this room has put there stays. Raises
        ``OSError``."""
        for name in set(os.listdir(_SHARED_MEMORY)) - self._in_shared_memory:
            path = os.path.join(_SHARED_MEMORY, name)
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)

    def fits(self, asked: dict[str, Any]) -> bool:
        """Is it what is asked for, and do its places still have the files that are asked for?"""
        return (
            asked == self.asked
            and all(_is_at(place, number) for _, place, _, *number in asked["files"])
            and all(os.path.exists(place) for _, place in asked["system"])
        )

    def clear(self) -> None:
        """Once the thread has ended: its places in the root are gone, and its limits with them.
        Raises ``OSError``."""
        for number, known in self._limits:
            resource.setrlimit(number, known)
        for path in reversed(self._made):
            if stat.S_ISDIR(os.lstat(path).st_mode):
                os.rmdir(path)
            else:
                os.unlink(path)

    def _put_file(
        self, source: str, place: str, number: Sequence[int], *, writable: bool = False
    ) -> None:
        """The file or folder ``source``, with this number, is seen at ``place``."""
        self._put(source, place, writable=writable)
        if not _is_at(place, number):
            raise RoomError(f"{place}: what is there has changed in the meantime")

    def _put_system(self, source: str, place: str) -> None:
        """What all programs see: ``source``, as it is; without one, nothing."""
        if source:
            self._make_place(source, place)
            bind_all(source, place)
        elif os.path.isdir(place):
            mount_memory(place, "mode=755")
            self._own.add(os.stat(place).st_dev)
            self._ways.append(place)
        else:
            bind(os.devnull, place, writable=False)

    def _put(self, source: str, place: str, *, writable: bool = False) -> None:
        """The file or folder ``source`` is seen at ``place``."""
        self._make_place(source, place)
        bind(source, place, writable=writable)

    def _make_place(self, source: str, place: str) -> None:
        """An empty file or folder, as ``source`` is one, unless something is there."""
        self._make_way(os.path.dirname(place))
        if not os.path.lexists(place):
            if os.path.isdir(source):
                os.mkdir(place)
            else:
                os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            self._note(place)

    def _link(self, place: str, target: str) -> None:
        self._make_way(os.path.dirname(place))
        # It may be there from an earlier program of the same job.
        with contextlib.suppress(FileExistsError):
            os.symlink(target, place)
            self._note(place)

    def _make_way(self, path: str) -> None:
        """Folders to a place. Of those that lie in a folder that programs write to, the first is
        made there, and has a file system of its own for what is below."""
        left = self._is_left(path)
        if path == "/" or (os.path.isdir(path) and not left):
            return
        self._make_way(os.path.dirname(path))
        if not left:
            os.mkdir(path)
            self._note(path)
        if os.stat(path).st_dev not in self._own:
            mount_memory(path, "mode=755")
            self._own.add(os.stat(path).st_dev)
            self._ways.append(path)

    def _is_left(self, path: str) -> bool:
        """Is it the first folder of such a way, that another room has made in the same /tmp? What
        is below it is to have a file system of this one's."""
        return (
            os.path.dirname(path) == _TMP
            and os.path.isdir(path)
            and os.stat(path).st_dev == os.stat(_TMP).st_dev not in self._own
            and not os.listdir(path)
        )

    def _note(self, path: str) -> None:
        if os.lstat(path).st_dev == os.stat("/").st_dev:
            self._made.append(path)


def _is_at(place: str, number: Sequence[int]) -> bool:
    """``number``: of its device, and its own."""
    try:
        found = os.stat(place)
    except OSError:
        return False
    return [found.st_dev, found.st_ino] == number


def _state(folder: str) -> object:
    """Of a file system in memory: how much is in it, and all that a program could have written to
    its first folder. (The time of its last change, which no program sets, would tell as well, but
    some kernels count that in steps of 4 ms.)"""
    whole, found = os.statvfs(folder), os.stat(folder)
    times = found.st_atime_ns, found.st_mtime_ns, found.st_ctime_ns
    names = os.listxattr(folder), os.listdir(folder)
    return whole.f_ffree, whole.f_bfree, found.st_mode, times, names


def program_file(name: str, environment: dict[str, str]) -> str:
    """The file that a program's name means. Raises ``OSError``."""
    if "/" in name:
        return name
    wrong = errno.ENOENT
    for folder in environment.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            if os.access(path, os.X_OK):
                return path
            wrong = errno.EACCES
    raise OSError(wrong, os.strerror(wrong), name)
