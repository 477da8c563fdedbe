"""Holds the namespaces of a sandbox, and starts one program after the other in them: the first
process that bubblewrap starts. ``main(DESCRIPTOR)``

It and what it imports need nothing but Python's own library, and see what the sandbox sees. For
each program a thread gets namespaces of its own for mounts and shared memory, puts the program's
files into their places, gives up its rights, and starts the program, without ever copying this
process. When that has ended, all that is left in this PID namespace is killed: nothing of it meets
the next one.
"""

import contextlib
import os
import resource
import select
import signal
import socket

from pilot.sandbox.channel import Channel
from pilot.sandbox.kernel import route, shut_off
from pilot.sandbox.tool_start import ToolStart

_MOST_CHUNK = 1 << 16


class Holder:
    """``calls``: the filter on system calls, None: none for this kind of processor."""

    def __init__(self, connection: Channel, wake: int, calls: bytes | None) -> None:
        self._connection = connection
        self._wake = wake
        self._calls = calls
        self._job: ToolStart | None = None
        self._cpu, self._memory, self._moved = 0.0, 0, (0, 0)

    def serve(self) -> None:
        """Until the other side has gone."""
        poll = select.poll()
        poll.register(self._connection, select.POLLIN)
        poll.register(self._wake, select.POLLIN)
        while True:
            for descriptor, _ in poll.poll():
                if descriptor == self._wake:
                    os.read(self._wake, _MOST_CHUNK)
                    continue
                request, descriptors = self._connection.receive()
                if "signal" in request:
                    self._signal(request["signal"])
                else:
                    self._start(ToolStart(request, descriptors, self._calls))
            if self._job is not None:
                self._bury(self._job)

    def _start(self, job: ToolStart) -> None:
        job.start()
        if job.pid is None:
            job.clear()
            self._connection.send(job.error)
            return
        self._job, self._cpu, self._memory, self._moved = job, 0.0, 0, _bytes_moved()
        self._connection.send({"started": True})

    def _signal(self, number: int) -> None:
        """To the program's group; all of its processes are killed."""
        if self._job is None or self._job.pid is None:
            return
        with contextlib.suppress(ProcessLookupError):
            if number == signal.SIGKILL:
                os.kill(-1, signal.SIGKILL)
            else:
                os.killpg(self._job.pid, number)

    def _bury(self, job: ToolStart) -> None:
        """Those that have ended; once the program has, all others are ended."""
        while (ended := self._waited(os.WNOHANG)) is not None:
            pid, status = ended
            if pid == job.pid:
                self._end(job, status)
                return

    def _end(self, job: ToolStart, status: int) -> None:
        self._job = None
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        while self._waited(0) is not None:
            pass
        job.clear()
        read, written = _bytes_moved()
        self._connection.send(
            {
                "status": status,
                "cpu": self._cpu,
                "memory": self._memory,
                "floor": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
                "read": read - self._moved[0],
                "written": written - self._moved[1],
            }
        )

    def _waited(self, options: int) -> tuple[int, int] | None:
        """Pid and status of a child that has ended; None: there is none."""
        try:
            pid, status, usage = os.wait4(-1, options)
        except ChildProcessError:
            return None
        if pid == 0:
            return None
        self._cpu += usage.ru_utime + usage.ru_stime
        self._memory = max(self._memory, usage.ru_maxrss)
        return pid, status


def _bytes_moved() -> tuple[int, int]:
    """Read and written by this process and by those that it has buried; see proc(5)."""
    with open("/proc/self/io") as file:
        read, written = (int(file.readline().split()[1]) for _ in range(2))
    return read, written


def _woken_by_children() -> int:
    """Readable when one has ended."""
    reading, writing = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return reading


def main(descriptor: int) -> None:
    wake = _woken_by_children()
    connection = Channel(socket.socket(fileno=descriptor))
    with contextlib.suppress(EOFError, ConnectionError):
        connection.send({"made": True})
        settings, _ = connection.receive()
        for network in settings["refused"]:
            route(network, None)
        for network in settings["allowed"]:
            route(network, settings["gateway"])
        shut_off(settings["open_files"])
        connection.send({"memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss})
        calls = settings["calls"]
        Holder(connection, wake, None if calls is None else bytes.fromhex(calls)).serve()
