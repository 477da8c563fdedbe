"""The start of one program in a sandbox, by a thread of the process that holds it."""

import contextlib
import errno
import os
import resource
import signal
import stat
import threading
from typing import Any

from pilot.sandbox.kernel import (
    bind,
    filter_calls,
    give_up_rights,
    hide,
    mount_memory,
    only_read,
    own_namespaces,
)

#: Where the folders lie from which programs get their files; no program sees it.
SOURCES = "/.sources"


class ToolStart:
    """What a request asks for, started. ``pid``: of the program; ``error``: why there is none. What
    it has ``made`` in the file system whose root all programs see is removed in the end."""

    def __init__(
        self, request: dict[str, Any], descriptors: list[int], calls: bytes | None
    ) -> None:
        self.pid: int | None = None
        self.error: dict[str, Any] = {}
        self._request = request
        self._descriptors = descriptors
        self._calls = calls
        self._made: list[str] = []

    def start(self) -> None:
        limits = {int(number): most for number, most in self._request["limits"].items()}
        before = {number: resource.getrlimit(number) for number in limits}
        for number, most in limits.items():
            hard = before[number][1]
            within = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(number, (within, hard))
        try:
            thread = threading.Thread(target=self._run)
            thread.start()
            thread.join()
        finally:
            for number, known in before.items():
                resource.setrlimit(number, known)
            for descriptor in self._descriptors:
                os.close(descriptor)

    def clear(self) -> None:
        """Its places in the root are gone. Raises ``OSError``."""
        for path in reversed(self._made):
            if stat.S_ISDIR(os.lstat(path).st_mode):
                os.rmdir(path)
            else:
                os.unlink(path)

    def _run(self) -> None:
        place = "the namespaces"
        try:
            own_namespaces()
            root = os.stat("/").st_dev
            place = "/dev/shm"  # noqa: S108 - the program's own
            mount_memory(place, f"mode=1777,size={self._request['shared_memory']}")
            for source, place, writable in self._request["files"]:
                self._put(source, place, writable=writable, root=root)
            for place, target in self._request["links"].items():
                self._link(place, target, root)
            place = SOURCES
            hide(place)
            only_read("/")
            give_up_rights()
        except OSError as error:
            self.error = {"room": f"{place}: {error.strerror}"}
            return
        try:
            os.chdir(self._request["folder"])
            program = _program(self._request["arguments"][0], self._request["environment"])
            if self._calls is not None:
                filter_calls(self._calls)
            self.pid = os.posix_spawn(
                program,
                self._request["arguments"],
                self._request["environment"],
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, descriptor, number)
                    for number, descriptor in enumerate(self._descriptors)
                ],
                setsid=True,
                setsigdef=[signal.SIGPIPE, signal.SIGXFSZ],
            )
        except OSError as error:
            self.error = {"program": error.errno}

    def _put(self, source: str, place: str, *, writable: bool, root: int) -> None:
        """The file or folder ``source`` is seen at ``place``."""
        self._make_folders(os.path.dirname(place), root)
        if not os.path.lexists(place):
            if os.path.isdir(source):
                self._make_folders(place, root)
            else:
                os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
                self._note(place, root)
        bind(source, place, writable=writable)

    def _link(self, place: str, target: str, root: int) -> None:
        self._make_folders(os.path.dirname(place), root)
        # It may be there from an earlier program of the same job.
        with contextlib.suppress(FileExistsError):
            os.symlink(target, place)
            self._note(place, root)

    def _make_folders(self, path: str, root: int) -> None:
        if path == "/" or os.path.isdir(path):
            return
        self._make_folders(os.path.dirname(path), root)
        os.mkdir(path)
        self._note(path, root)

    def _note(self, path: str, root: int) -> None:
        if os.lstat(path).st_dev == root:
            self._made.append(path)


def _program(name: str, environment: dict[str, str]) -> str:
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
