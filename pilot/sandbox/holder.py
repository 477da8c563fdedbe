"""Holds the namespaces of a sandbox, and starts one program after the other in them: the first
process that bubblewrap starts. ``main(DESCRIPTOR)``

It and what it imports need nothing but Python's own library, and see what the sandbox sees. For
each view a thread makes a room (``pilot.sandbox.room``) and starts the programs that come with this
view, without ever copying this process. When a program has ended, all that is left in this PID
namespace is killed: nothing of it meets the next one.
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

from pilot.sandbox.changing_inputs import ChangingInputs
from pilot.sandbox.channel import Channel
from pilot.sandbox.kernel import (
    ends_of_children,
    keep_devices,
    keep_settings,
    own_mounts,
    shut_off,
)
from pilot.sandbox.loopback import Loopback
from pilot.sandbox.room import RoomError, ToolRoom
from pilot.sandbox.shares import take_share

_MOST_CHUNK = 1 << 12
#: States of a thread that has stopped, or ended; see proc(5).
_STANDING = "TtZX"
#: Seconds for processes to stop.
_STOPPING = 0.5


class _Request(NamedTuple):
    """``descriptors``: of the program's streams."""

    message: dict[str, Any]
    descriptors: list[int]


class Holder:
    """``ends``: descriptor that can be read when a child has ended; ``io``: of what the kernel
    counts for this process. ``calls``: the filter on system calls. ``loopback``: None: there is
    another network, which is not made anew."""

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
        #: Files that a program is to see from now on (None: it has ended), and why they cannot be.
        self._to_show: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._shown: queue.SimpleQueue[str] = queue.SimpleQueue()

    def serve(self) -> None:
        """Until the other side has gone."""
        while (request := self._next or self._received()) is not None:
            self._next = request
            room = ToolRoom(request.message["room"], self._calls)
            folders = request.message["room"].get("changing", [])
            changing = ChangingInputs(len(folders)) if folders else None
            # What the kernel keeps for each thread is what gives each room namespaces of its own.
            thread = threading.Thread(target=self._serve_in, args=(room,))
            thread.start()
            # A room's thread has not the right to mount anything any more.
            while (files := self._to_show.get()) is not None:
                self._shown.put(_shown(changing, files))
            thread.join()
            if changing is not None:
                changing.close()
            room.clear()
            if self._loopback is not None:
                self._loopback.renew()

    def _serve_in(self, room: ToolRoom) -> None:
        try:
            self._serve_all_in(room)
        finally:
            self._to_show.put(None)

    def _serve_all_in(self, room: ToolRoom) -> None:
        """Programs, until one comes that has another view."""
        request, self._next = self._next, None
        try:
            room.enter()
        except RoomError as error:
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
        """The next program; None: the other side has gone. Signals come too late."""
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

    def _run(self, room: ToolRoom, request: _Request) -> None:
        """To its end, with all that it has started. Raises ``EOFError``, ``OSError``."""
        read, written = self._bytes_moved()
        try:
            pid = room.start(request.message, request.descriptors)
        except RoomError as error:
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

    def _status(self, pid: int, room: ToolRoom) -> int:
        """Of the program, once it has ended. Until then it gets signals, and what it has left to
        this process is buried."""
        while True:
            for descriptor, _ in self._poll.poll():
                if descriptor != self._ends:
                    message, _ = self._connection.receive()
                    self._obey(message, pid, room)
                    continue
                os.read(self._ends, _MOST_CHUNK)
                while (ended := self._waited(os.WNOHANG)) is not None:
                    if ended[0] == pid:
                        return ended[1]

    def _obey(self, message: dict[str, Any], pid: int, room: ToolRoom) -> None:
        """What is asked for while a program runs, whose number is ``pid``."""
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
                with contextlib.suppress(OSError):  # then the next job finds it
                    room.empty_shared_memory()
                self._connection.send({"paused": True})
            case {"pause": False}:
                _signal_all(signal.SIGCONT)

    def _waited(self, options: int) -> tuple[int, int] | None:
        """Pid and status of a child that has ended; None: there is none."""
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
            # It has asked to be traced by who started it.
            os.kill(pid, signal.SIGKILL)

    def _bytes_moved(self) -> tuple[int, int]:
        """Read and written by this process and by those that it has buried; see proc(5)."""
        lines = os.pread(self._io, _MOST_CHUNK, 0).split(b"\n", 2)
        return int(lines[0].split()[1]), int(lines[1].split()[1])


def _signal(pid: int, number: int) -> None:
    """To the program's group; all of its processes are killed."""
    if number == signal.SIGKILL:
        _signal_all(number)
        return
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, number)


def _signal_all(number: int) -> None:
    """To all processes but this one."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, number)


def _stop_all() -> None:
    """All processes but this one stand still afterwards: one that runs on another processor goes on
    for a moment when it is told to stop. One that waits for a disk stops when it has been there."""
    _signal_all(signal.SIGSTOP)
    end = time.monotonic() + _STOPPING
    while any(map(_runs, filter(str.isdigit, os.listdir("/proc")))) and time.monotonic() < end:
        os.sched_yield()


def _runs(pid: str) -> bool:
    """Has the process a thread that does not stand still?"""
    if int(pid) == os.getpid():
        return False
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return False
    for thread in threads:
        with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{thread}/stat") as file:
            if file.read().rpartition(") ")[2][:1] not in _STANDING:
                return True
    return False


def _children() -> set[int]:
    """Of all threads of this process."""
    found: set[int] = set()
    for thread in os.listdir("/proc/self/task"):
        with contextlib.suppress(OSError), open(f"/proc/self/task/{thread}/children") as file:
            found.update(map(int, file.read().split()))
    return found


def _shown(changing: ChangingInputs | None, files: list[Any]) -> str:
    """Why the files cannot be seen; empty: they are."""
    if changing is None:
        return "this program's files do not change"
    try:
        changing.show(files)
    except OSError as error:
        return f"{error.filename or 'a mount'}: {error.strerror}"
    return ""


def _end(failure: threading.ExceptHookArgs) -> None:
    """Of a thread that failed, and of all: who waits for an answer sees that there will be none."""
    sys.excepthook(failure.exc_type, failure.exc_value or failure.exc_type(), failure.exc_traceback)
    os._exit(1)


def main(descriptor: int) -> None:
    threading.excepthook = _end
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # which no program can send the first process then
    ends = ends_of_children()
    connection = Channel(socket.socket(fileno=descriptor))
    with contextlib.suppress(EOFError, ConnectionError):
        connection.send({"made": True})
        settings, _ = connection.receive()
        own_mounts()  # those that bubblewrap has made may belong to a user that this one is not
        take_share(settings["slots"])
        keep_devices()
        keep_settings()
        io = os.open("/proc/self/io", os.O_RDONLY)  # afterwards it is no more this user's
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
