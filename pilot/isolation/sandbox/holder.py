"""Holder of a sandbox: ``main(DESCRIPTOR)``.

It is the first process that bubblewrap starts. It holds the namespaces and starts one program after
the other. It uses only Python's standard library and sees what the sandbox sees.

For each view, a thread creates a tool root (``pilot.isolation.sandbox.tool_root``) and starts the
programs with this view. The holder is never forked. When a program has ended, all other processes
in the PID namespace are killed, so that the next program meets none of them.
"""

import contextlib
import os
import queue
import resource
import select
import signal
import socket
import sys
import threading
import time
from typing import Any, NamedTuple

from pilot.isolation.sandbox.changing_inputs import ChangingInputs
from pilot.isolation.sandbox.channel import Channel
from pilot.isolation.sandbox.kernel import (
    ends_of_children,
    keep_devices,
    keep_settings,
    own_mounts,
    shut_off,
)
from pilot.isolation.sandbox.loopback import Loopback
from pilot.isolation.sandbox.shares import take_share
from pilot.isolation.sandbox.tool_root import ToolRoot, ToolRootError

_MAX_CHUNK = 1 << 12
#: States of a thread that is stopped or has ended; see proc(5).
_STOPPED_STATES = "TtZX"
#: Seconds for processes to stop.
_STOPPING = 0.5


class _Request(NamedTuple):
    """A request to run a program.

    ``descriptors`` are those of its streams.
    """

    message: dict[str, Any]
    descriptors: list[int]


class Holder:
    """Runs programs in the namespaces.

    ``ends`` is a descriptor that is readable when a child has ended. ``io`` is open on the I/O
    counts of this process. ``calls`` is the filter for system calls. ``loopback`` is None if
    programs have another network, which is not renewed.
    """

    def __init__(
        self,
        connection: Channel,
        ends: int,
        io: int,
        *,
        calls: bytes | None,
        loopback: Loopback | None,
    ) -> None:
        self._connection = connection
        self._loopback = loopback
        self._ends = ends
        self._calls = calls
        self._next: _Request | None = None
        self._poll = select.poll()
        self._poll.register(connection, select.POLLIN)
        self._poll.register(ends, select.POLLIN)
        self._io = io
        self._cpu, self._memory = 0.0, 0
        #: Files to show to the program, or None once it has ended, and the results.
        self._to_show: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._shown: queue.SimpleQueue[str] = queue.SimpleQueue()

    def serve(self) -> None:
        """Run programs until the other side has closed the connection."""
        while (request := self._next or self._received()) is not None:
            self._next = request
            room = ToolRoot(request.message["room"], self._calls)
            folders = request.message["room"].get("changing", [])
            changing = ChangingInputs(len(folders)) if folders else None
            # Namespaces belong to a thread, so that each room can have its own.
            thread = threading.Thread(target=self._serve_in, args=(room,))
            thread.start()
            # The thread of a room may no longer mount anything.
            while (files := self._to_show.get()) is not None:
                self._shown.put(_shown(changing, files))
            thread.join()
            if changing is not None:
                changing.close()
            room.clear()
            if self._loopback is not None:
                self._loopback.renew()

    def _serve_in(self, room: ToolRoot) -> None:
        try:
            self._serve_all_in(room)
        finally:
            self._to_show.put(None)

    def _serve_all_in(self, room: ToolRoot) -> None:
        """Run programs in a room until a request has another view."""
        request, self._next = self._next, None
        try:
            room.enter()
        except ToolRootError as error:
            self._refuse(request, {"room": str(error)})
            return
        fits = True
        while fits and request is not None:
            self._run(room, request)
            if not room.is_as_new() or (self._loopback and not self._loopback.is_as_new()):
                return
            request = self._received()
            fits = request is not None and room.fits(request.message["room"])
        self._next = request

    def _received(self) -> _Request | None:
        """Return the next request, or None if the other side has closed the connection.

        Other messages are too late and are dropped.
        """
        with contextlib.suppress(EOFError, ConnectionError):
            while True:
                message, descriptors = self._connection.receive()
                if "arguments" in message:
                    return _Request(message, descriptors)
        return None

    def _refuse(self, request: _Request | None, answer: dict[str, Any]) -> None:
        for descriptor in [] if request is None else request.descriptors:
            os.close(descriptor)
        self._connection.send(answer)

    def _run(self, room: ToolRoot, request: _Request) -> None:
        """Run a program until all its processes have ended.

        Raises:
            EOFError: The other side has closed the connection.
            OSError: The connection is broken.
        """
        read, written = self._bytes_moved()
        try:
            pid = room.start(request.message, request.descriptors)
        except ToolRootError as error:
            self._refuse(request, {"room": str(error)})
            return
        except OSError as error:
            self._refuse(request, {"program": error.errno})
            return
        for descriptor in request.descriptors:
            os.close(descriptor)
        self._connection.send({"started": True})
        self._cpu, self._memory = 0.0, 0
        status = self._status(pid, room)
        _signal_all(signal.SIGKILL)
        while self._waited(0) is not None:
            pass
        read_since, written_since = self._bytes_moved()
        self._connection.send(
            {
                "status": status,
                "cpu": self._cpu,
                "memory": self._memory,
                "floor": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
                "read": read_since - read,
                "written": written_since - written,
            }
        )

    def _status(self, pid: int, room: ToolRoot) -> int:
        """Return the status of the program once it has ended.

        Until then, messages are processed and orphans are reaped.
        """
        while True:
            for descriptor, _ in self._poll.poll():
                if descriptor != self._ends:
                    message, _ = self._connection.receive()
                    self._obey(message, pid, room)
                    continue
                os.read(self._ends, _MAX_CHUNK)
                while (ended := self._waited(os.WNOHANG)) is not None:
                    if ended[0] == pid:
                        return ended[1]

    def _obey(self, message: dict[str, Any], pid: int, room: ToolRoot) -> None:
        """Process a message for the running program with this pid."""
        match message:
            case {"signal": number}:
                _signal(pid, number)
            case {"show": files}:
                self._to_show.put(files)
                self._connection.send({"shown": self._shown.get()})
            case {"pause": True}:
                _stop_all()
                for orphan in _children() - {pid}:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(orphan, signal.SIGKILL)
                with contextlib.suppress(OSError):  # The next job notices a failure.
                    room.empty_shared_memory()
                self._connection.send({"paused": True})
            case {"pause": False}:
                _signal_all(signal.SIGCONT)

    def _waited(self, options: int) -> tuple[int, int] | None:
        """Return pid and status of a child that has ended, or None."""
        while True:
            try:
                pid, status, usage = os.wait4(-1, options)
            except ChildProcessError:
                return None
            if pid == 0:
                return None
            if not os.WIFSTOPPED(status):
                self._cpu += usage.ru_utime + usage.ru_stime
                self._memory = max(self._memory, usage.ru_maxrss)
                return pid, status
            # The child has asked to be traced by its starter.
            os.kill(pid, signal.SIGKILL)

    def _bytes_moved(self) -> tuple[int, int]:
        """Return the bytes read and written by this process and reaped children; see proc(5)."""
        lines = os.pread(self._io, _MAX_CHUNK, 0).split(b"\n", 2)
        return int(lines[0].split()[1]), int(lines[1].split()[1])


def _signal(pid: int, number: int) -> None:
    """Send a signal to the group of the program, or SIGKILL to all its processes."""
    if number == signal.SIGKILL:
        _signal_all(number)
        return
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, number)


def _signal_all(number: int) -> None:
    """Send a signal to all processes except this one."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, number)


def _stop_all() -> None:
    """Stop all processes except this one and wait until they have stopped.

    A process on another processor runs for a moment after the signal. A process that waits for a
    disk stops later.
    """
    _signal_all(signal.SIGSTOP)
    end = time.monotonic() + _STOPPING
    while any(map(_runs, filter(str.isdigit, os.listdir("/proc")))) and time.monotonic() < end:
        os.sched_yield()


def _runs(pid: str) -> bool:
    """Return whether a process has a thread that is not stopped."""
    if int(pid) == os.getpid():
        return False
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return False
    for thread in threads:
        with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{thread}/stat") as file:
            if file.read().rpartition(") ")[2][:1] not in _STOPPED_STATES:
                return True
    return False


def _children() -> set[int]:
    """Return the children of all threads of this process."""
    found: set[int] = set()
    for thread in os.listdir("/proc/self/task"):
        with contextlib.suppress(OSError), open(f"/proc/self/task/{thread}/children") as file:
            found.update(map(int, file.read().split()))
    return found


def _shown(changing: ChangingInputs | None, files: list[Any]) -> str:
    """Show files and return an error message, empty for success."""
    if changing is None:
        return "this program's files do not change"
    try:
        changing.show(files)
    except OSError as error:
        return f"{error.filename or 'a mount'}: {error.strerror or error}"
    return ""


def _end(failure: threading.ExceptHookArgs) -> None:
    """End the process when a thread fails, so that the other side does not wait for an answer."""
    sys.excepthook(failure.exc_type, failure.exc_value or failure.exc_type(), failure.exc_traceback)
    os._exit(1)


def main(descriptor: int) -> None:
    """Prepare the namespaces and run programs."""
    threading.excepthook = _end
    # The first process of a namespace gets no signal with a default action from a program in it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    ends = ends_of_children()
    connection = Channel(socket.socket(fileno=descriptor))
    with contextlib.suppress(EOFError, ConnectionError):
        connection.send({"made": True})
        settings, _ = connection.receive()
        own_mounts()  # The mounts of bubblewrap may belong to another user namespace.
        take_share(settings["slots"])
        keep_devices()
        keep_settings()
        io = os.open("/proc/self/io", os.O_RDONLY)  # It cannot be opened later.
        shut_off(settings["limits"])
        connection.send({"memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss})
        calls = settings["calls"]
        Holder(
            connection,
            ends,
            io,
            calls=None if calls is None else bytes.fromhex(calls),
            loopback=None if settings["network"] else Loopback(),
        ).serve()
