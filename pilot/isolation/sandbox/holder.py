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
    open_child_signals,
    protect_devices,
    protect_process,
    protect_settings,
    unshare_mounts,
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

    Attributes:
        descriptors: The descriptors of its streams.
    """

    message: dict[str, Any]
    descriptors: list[int]


class Holder:
    """Runs programs in the namespaces.

    ``child_signals`` is a descriptor that is readable when a child has ended. ``io`` is open on the
    I/O counts of this process. ``calls`` is the filter for system calls. ``loopback`` is None if
    programs have another network, which is not renewed.
    """

    def __init__(
        self,
        connection: Channel,
        child_signals: int,
        io: int,
        *,
        calls: bytes | None,
        loopback: Loopback | None,
    ) -> None:
        self._connection = connection
        self._loopback = loopback
        self._child_signals = child_signals
        self._calls = calls
        self._next: _Request | None = None
        self._poll = select.poll()
        self._poll.register(connection, select.POLLIN)
        self._poll.register(child_signals, select.POLLIN)
        self._io = io
        self._cpu, self._memory = 0.0, 0
        #: Files to show to the program, or None once it has ended, and the results.
        self._to_show: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._show_results: queue.SimpleQueue[str] = queue.SimpleQueue()

    def serve(self) -> None:
        """Run programs until the other side has closed the connection."""
        while (request := self._next or self._receive_request()) is not None:
            self._next = request
            tool_root = ToolRoot(request.message["tool_root"], self._calls)
            folders = request.message["tool_root"].get("changing", [])
            changing = ChangingInputs(len(folders)) if folders else None
            # Namespaces belong to a thread, so that each tool root can have its own.
            thread = threading.Thread(target=self._serve_tool_root, args=(tool_root,))
            thread.start()
            # The thread of a tool root may no longer mount anything.
            while (files := self._to_show.get()) is not None:
                self._show_results.put(_show_files(changing, files))
            thread.join()
            if changing is not None:
                changing.close()
            tool_root.clear()
            if self._loopback is not None:
                self._loopback.renew()

    def _serve_tool_root(self, tool_root: ToolRoot) -> None:
        try:
            self._run_programs_in(tool_root)
        finally:
            self._to_show.put(None)

    def _run_programs_in(self, tool_root: ToolRoot) -> None:
        """Run programs in a tool root until a request has another view."""
        request, self._next = self._next, None
        try:
            tool_root.enter()
        except ToolRootError as error:
            self._refuse(request, {"error": str(error)})
            return
        fits = True
        while fits and request is not None:
            self._run(tool_root, request)
            if not tool_root.is_unchanged() or (
                self._loopback and not self._loopback.is_unchanged()
            ):
                return
            request = self._receive_request()
            fits = request is not None and tool_root.matches(request.message["tool_root"])
        self._next = request

    def _receive_request(self) -> _Request | None:
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

    def _run(self, tool_root: ToolRoot, request: _Request) -> None:
        """Run a program until all its processes have ended.

        Raises:
            EOFError: The other side has closed the connection.
            OSError: The connection is broken.
        """
        read_before, written_before = self._count_io_bytes()
        try:
            pid = tool_root.start(request.message, request.descriptors)
        except ToolRootError as error:
            self._refuse(request, {"error": str(error)})
            return
        except OSError as error:
            self._refuse(request, {"program": error.errno})
            return
        for descriptor in request.descriptors:
            os.close(descriptor)
        self._connection.send({"started": True})
        self._cpu, self._memory = 0.0, 0
        status = self._wait_for_program(pid, tool_root)
        _signal_all(signal.SIGKILL)
        while self._reap_child(0) is not None:
            pass
        read_after, written_after = self._count_io_bytes()
        self._connection.send(
            {
                "status": status,
                "cpu": self._cpu,
                "memory": self._memory,
                "floor": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
                "read": read_after - read_before,
                "written": written_after - written_before,
            }
        )

    def _wait_for_program(self, pid: int, tool_root: ToolRoot) -> int:
        """Return the status of the program once it has ended.

        Until then, messages are processed and orphans are reaped.
        """
        while True:
            for descriptor, _ in self._poll.poll():
                if descriptor != self._child_signals:
                    message, _ = self._connection.receive()
                    self._handle_message(message, pid, tool_root)
                    continue
                os.read(self._child_signals, _MAX_CHUNK)
                while (ended := self._reap_child(os.WNOHANG)) is not None:
                    if ended[0] == pid:
                        return ended[1]

    def _handle_message(self, message: dict[str, Any], pid: int, tool_root: ToolRoot) -> None:
        """Process a message for the running program with this pid."""
        match message:
            case {"signal": number}:
                _signal(pid, number)
            case {"show": files}:
                self._to_show.put(files)
                self._connection.send({"shown": self._show_results.get()})
            case {"pause": True}:
                _stop_all()
                for orphan in _list_children() - {pid}:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(orphan, signal.SIGKILL)
                with contextlib.suppress(OSError):  # The next job notices a failure.
                    tool_root.empty_shared_memory()
                self._connection.send({"paused": True})
            case {"pause": False}:
                _signal_all(signal.SIGCONT)

    def _reap_child(self, options: int) -> tuple[int, int] | None:
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

    def _count_io_bytes(self) -> tuple[int, int]:
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
    while (
        any(map(_is_running, filter(str.isdigit, os.listdir("/proc")))) and time.monotonic() < end
    ):
        os.sched_yield()


def _is_running(pid: str) -> bool:
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


def _list_children() -> set[int]:
    """Return the children of all threads of this process."""
    children: set[int] = set()
    for thread in os.listdir("/proc/self/task"):
        with contextlib.suppress(OSError), open(f"/proc/self/task/{thread}/children") as file:
            children.update(map(int, file.read().split()))
    return children


def _show_files(changing_inputs: ChangingInputs | None, files: list[Any]) -> str:
    """Show files and return an error message, empty for success."""
    if changing_inputs is None:
        return "this program's files do not change"
    try:
        changing_inputs.show(files)
    except OSError as error:
        return f"{error.filename or 'a mount'}: {error.strerror or error}"
    return ""


def _end_process(failure: threading.ExceptHookArgs) -> None:
    """End the process when a thread fails, so that the other side does not wait for an answer."""
    sys.excepthook(failure.exc_type, failure.exc_value or failure.exc_type(), failure.exc_traceback)
    os._exit(1)


def main(descriptor: int) -> None:
    """Prepare the namespaces and run programs."""
    threading.excepthook = _end_process
    # The first process of a namespace gets no signal with a default action from a program in it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    child_signals = open_child_signals()
    connection = Channel(socket.socket(fileno=descriptor))
    with contextlib.suppress(EOFError, ConnectionError):
        connection.send({"made": True})
        settings, _ = connection.receive()
        unshare_mounts()  # The mounts of bubblewrap may belong to another user namespace.
        take_share(settings["slots"])
        protect_devices()
        protect_settings()
        io = os.open("/proc/self/io", os.O_RDONLY)  # It cannot be opened later.
        protect_process(settings["limits"])
        connection.send({"memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss})
        calls = settings["calls"]
        Holder(
            connection,
            child_signals,
            io,
            calls=None if calls is None else bytes.fromhex(calls),
            loopback=None if settings["network"] else Loopback(),
        ).serve()
