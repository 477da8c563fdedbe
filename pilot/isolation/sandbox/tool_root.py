"""Tool root: the view of programs in a sandbox.

A thread of the sandbox's holder creates it, and programs start from this thread one after the
other.
"""

import contextlib
import errno
import os
import resource
import shutil
import signal
import stat
from collections.abc import Sequence
from typing import Any

from pilot.isolation.sandbox import changing_inputs
from pilot.isolation.sandbox.kernel import (
    bind,
    bind_all,
    clamp_to_hard_limit,
    drop_rights,
    filter_calls,
    hide,
    make_read_only,
    mount_memory,
    unshare_mounts,
    unshare_shared_memory,
)

#: Place of the folders with files for programs, which no program sees.
SOURCES = "/.sources"
_SHARED_MEMORY, _TMP = "/dev/shm", "/tmp"  # noqa: S108 - the program's own


class ToolRootError(Exception):
    """A tool root cannot be created. The message says where and why."""


class ToolRoot:
    """The view of programs with the same request.

    ``calls`` is the filter for system calls, or None if there is none for this architecture.
    """

    def __init__(self, request: dict[str, Any], calls: bytes | None) -> None:
        self.request = request
        self._calls = calls
        #: Folders whose files change while a program runs.
        self._changing: list[str] = request.get("changing", [])
        #: Paths created in the root file system, which all programs see.
        self._created_paths: list[str] = []
        #: Devices of file systems in which only this object creates paths, and the folders where
        #: they are mounted.
        self._own_devices = {os.stat("/").st_dev}
        self._mounted_folders: list[str] = []
        self._initial_state: object = None
        self._in_shared_memory = set[str]()
        #: Original limits of this process.
        self._limits: list[tuple[int, tuple[int, int]]] = []

    def enter(self) -> None:
        """Move this thread into the tool root permanently.

        The thread keeps only the rights to renew shared memory and to end programs. The limits
        apply to the whole process.

        Raises:
            ToolRootError: The tool root could not be created.
        """
        place = "the namespaces"
        try:
            unshare_mounts()
            place = _SHARED_MEMORY
            mount_memory(place, f"mode=1777,size={self.request['shared_memory']}")
            if self._changing:
                changing_inputs.follow_mounts()
            files = sorted(self.request["files"], key=lambda file: file[1] != _TMP)
            after_tmp = sum(file[1] == _TMP for file in files)
            for source, place, writable, *identity in files[:after_tmp]:
                self._show_file(source, place, identity, writable=writable)
            for source, place in self.request["system"]:
                self._show_system_path(source, place)
            for source, place, writable, *identity in files[after_tmp:]:
                self._show_file(source, place, identity, writable=writable)
            for number, place in enumerate(self._changing):
                self._show(f"{changing_inputs.PLACE}/{number}", place)
            for place, target in self.request["links"].items():
                self._link(place, target)
            place = SOURCES
            hide(place)
            if self._changing:
                changing_inputs.hide_folders()
            for place in ("/", *self._mounted_folders):
                make_read_only(place)
            drop_rights()
            place = "its limits"
            for number, limit in self.request["limits"]:
                soft, hard = resource.getrlimit(number)
                self._limits.append((number, (soft, hard)))
                resource.setrlimit(number, (clamp_to_hard_limit(number, limit), hard))
            self._initial_state = _read_state(_SHARED_MEMORY)
            self._in_shared_memory = set(os.listdir(_SHARED_MEMORY))
            if self._calls is not None:
                filter_calls(self._calls)
        except OSError as error:
            raise ToolRootError(f"{place}: {error.strerror or error}") from error

    def start(self, request: dict[str, Any], streams: Sequence[int]) -> int:
        """Start a program with its own shared memory and return its pid.

        ``streams`` are standard output and error. If the request has no path for standard input,
        its descriptor comes first.

        Raises:
            ToolRootError: The folder or the standard input is not accessible.
            OSError: The program does not exist or is not executable.
        """
        place = "a namespace for shared memory"
        try:
            unshare_shared_memory()
            place = request["folder"]
            os.chdir(place)
            place = request["stdin"] or "/"
            # Opening a named pipe must not block.
            stdin = os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            raise ToolRootError(f"{place}: {error.strerror or error}") from error
        try:
            os.set_blocking(stdin, True)
            return os.posix_spawn(
                find_program(request["arguments"][0], request["environment"]),
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

    def is_unchanged(self) -> bool:
        """Return whether no program has left anything in the tool root for the next.

        The job's own folders are emptied outside.
        """
        return _read_state(_SHARED_MEMORY) == self._initial_state

    def empty_shared_memory(self) -> None:
        """Empty shared memory between two jobs of a warm worker.

        What the tool root itself has put there stays.

        Raises:
            OSError: A file could not be removed.
        """
        for name in set(os.listdir(_SHARED_MEMORY)) - self._in_shared_memory:
            path = os.path.join(_SHARED_MEMORY, name)
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)

    def matches(self, request: dict[str, Any]) -> bool:
        """Return whether the tool root matches a request and its files are still the same."""
        return (
            request == self.request
            and all(_is_same_file(place, identity) for _, place, _, *identity in request["files"])
            and all(os.path.exists(place) for _, place in request["system"])
        )

    def clear(self) -> None:
        """Remove the tool root's paths and limits after its thread has ended.

        Raises:
            OSError: A path could not be removed.
        """
        for number, values in self._limits:
            resource.setrlimit(number, values)
        for path in reversed(self._created_paths):
            if stat.S_ISDIR(os.lstat(path).st_mode):
                os.rmdir(path)
            else:
                os.unlink(path)

    def _show_file(
        self, source: str, place: str, identity: Sequence[int], *, writable: bool = False
    ) -> None:
        """Show a file or folder with this device and inode at ``place``."""
        self._show(source, place, writable=writable)
        if not _is_same_file(place, identity):
            raise ToolRootError(f"{place}: its content has changed in the meantime")

    def _show_system_path(self, source: str, place: str) -> None:
        """Show ``source`` to all programs as it is.

        Without a source, hide what is at ``place``.
        """
        if source:
            self._make_place(source, place)
            bind_all(source, place)
        elif os.path.isdir(place):
            mount_memory(place, "mode=755")
            self._own_devices.add(os.stat(place).st_dev)
            self._mounted_folders.append(place)
        else:
            bind(os.devnull, place, writable=False)

    def _show(self, source: str, place: str, *, writable: bool = False) -> None:
        """Show the file or folder ``source`` at ``place``."""
        self._make_place(source, place)
        bind(source, place, writable=writable)

    def _make_place(self, source: str, place: str) -> None:
        """Create an empty file or folder, as ``source`` is, unless something is there."""
        self._make_folders(os.path.dirname(place))
        if not os.path.lexists(place):
            if os.path.isdir(source):
                os.mkdir(place)
            else:
                os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            self._record(place)

    def _link(self, place: str, target: str) -> None:
        self._make_folders(os.path.dirname(place))
        # An earlier program of the same job may have created it.
        with contextlib.suppress(FileExistsError):
            os.symlink(target, place)
            self._record(place)

    def _make_folders(self, path: str) -> None:
        """Create the folders above a path.

        In a folder that programs write to, the first such folder gets its own file system.
        """
        is_leftover = self._is_leftover(path)
        if path == "/" or (os.path.isdir(path) and not is_leftover):
            return
        self._make_folders(os.path.dirname(path))
        if not is_leftover:
            os.mkdir(path)
            self._record(path)
        if os.stat(path).st_dev not in self._own_devices:
            mount_memory(path, "mode=755")
            self._own_devices.add(os.stat(path).st_dev)
            self._mounted_folders.append(path)

    def _is_leftover(self, path: str) -> bool:
        """Return whether another tool root has created this folder in the same /tmp.

        This tool root needs its own file system for what is below it.
        """
        return (
            os.path.dirname(path) == _TMP
            and os.path.isdir(path)
            and os.stat(path).st_dev == os.stat(_TMP).st_dev not in self._own_devices
            and not os.listdir(path)
        )

    def _record(self, path: str) -> None:
        if os.lstat(path).st_dev == os.stat("/").st_dev:
            self._created_paths.append(path)


def _is_same_file(place: str, identity: Sequence[int]) -> bool:
    """Return whether the file at ``place`` is the expected one.

    ``identity`` is its device and inode.
    """
    try:
        status = os.stat(place)
    except OSError:
        return False
    return [status.st_dev, status.st_ino] == identity


def _read_state(folder: str) -> object:
    """Return the state of a file system in memory.

    It covers the usage and everything that a program could change in its top folder. The change
    time would be enough, but some kernels count it in steps of 4 ms.
    """
    usage, status = os.statvfs(folder), os.stat(folder)
    times = status.st_atime_ns, status.st_mtime_ns, status.st_ctime_ns
    names = os.listxattr(folder), os.listdir(folder)
    return usage.f_ffree, usage.f_bfree, status.st_mode, times, names


def find_program(name: str, environment: dict[str, str]) -> str:
    """Return the path of a program.

    Raises:
        OSError: It is not found or not executable.
    """
    if "/" in name:
        return name
    error_number = errno.ENOENT
    for folder in environment.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            if os.access(path, os.X_OK):
                return path
            error_number = errno.EACCES
    raise OSError(error_number, os.strerror(error_number), name)
