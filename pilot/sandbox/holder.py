"""Holds the namespaces of a sandbox, and starts one program after the other in them: ``python -I -S
holder.py DESCRIPTOR``, as the first process that bubblewrap starts.

It needs nothing but Python's own library, and sees what the sandbox sees. For each program a thread
gets namespaces of its own for mounts and shared memory, puts the program's files into their places,
gives up its rights, and starts the program, without ever copying this process. When that has ended,
all that is left in this PID namespace is killed: nothing of it meets the next one.

Messages: four bytes of length (big-endian), then JSON.
"""

import contextlib
import ctypes
import errno
import json
import os
import resource
import select
import signal
import socket
import stat
import struct
import sys
import threading
from collections.abc import Sequence
from typing import Any

#: Where the folders lie from which programs get their files; no program sees it.
SOURCES = "/.sources"

_LENGTH = struct.Struct(">I")
_MOST_CHUNK, _MOST_DESCRIPTORS = 1 << 16, 3

_CLONE_NEWNS, _CLONE_NEWIPC = 0x00020000, 0x08000000
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 1, 2, 4, 8
_MS_REMOUNT, _MS_NOATIME, _MS_NODIRATIME, _MS_BIND, _MS_RELATIME = 32, 1024, 2048, 4096, 1 << 21
_NOTHING = _MS_RDONLY | _MS_NOSUID | _MS_NODEV
#: Flag of statvfs(3) that has another number in mount(2).
_ST_RELATIME = 4096
_SAME_FLAGS = _MS_NOEXEC | _MS_NOATIME | _MS_NODIRATIME
_PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_CAPBSET_DROP = 4, 22, 24
_SECCOMP_MODE_FILTER = 2
_CAPABILITY_VERSION = 0x20080522

_RTM_NEWROUTE, _NEW_AND_ANSWERED = 24, 0x605
_RTA_DST, _RTA_GATEWAY = 1, 5
_RTN_UNICAST, _RTN_PROHIBIT = 1, 8
_RT_TABLE_MAIN, _RTPROT_STATIC = 254, 4

_libc = ctypes.CDLL(None, use_errno=True)


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Capabilities(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint32) for name in ("effective", "permitted", "inheritable"))


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("program", ctypes.c_char_p))


class Channel:
    """Between a holder and who has it run programs: messages, some of which come with
    descriptors."""

    def __init__(self, ours: socket.socket) -> None:
        self._socket = ours

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
        """Raises ``OSError``."""
        body = json.dumps(message).encode()
        data = _LENGTH.pack(len(body)) + body
        sent = socket.send_fds(self._socket, [data], list(descriptors))
        self._socket.sendall(data[sent:])

    def receive(self) -> tuple[dict[str, Any], list[int]]:
        """The next message, and the descriptors that came with it. Raises ``EOFError``,
        ``OSError``."""
        length, descriptors = self._take(_LENGTH.size)
        body, more = self._take(_LENGTH.unpack(length)[0])
        return json.loads(body), descriptors + more

    def close(self) -> None:
        self._socket.close()

    def _take(self, size: int) -> tuple[bytes, list[int]]:
        """No more than that: what is left is seen by who waits for more."""
        taken, found = b"", list[int]()
        while len(taken) < size:
            piece, descriptors, _, _ = socket.recv_fds(
                self._socket, size - len(taken), _MOST_DESCRIPTORS
            )
            for descriptor in descriptors:
                os.set_inheritable(descriptor, False)
            if not piece:
                raise EOFError("the other side has gone")
            taken += piece
            found += descriptors
        return taken, found


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
            _called(_libc.unshare(_CLONE_NEWNS | _CLONE_NEWIPC))
            root = os.stat("/").st_dev
            place = "/dev/shm"  # noqa: S108 - the program's own
            kind = f"tmpfs mode=1777,size={self._request['shared_memory']}"
            _mount(place, _MS_NOSUID | _MS_NODEV, source="tmpfs", kind=kind)
            for source, place, writable in self._request["files"]:
                self._put(source, place, writable=writable, root=root)
            for place, target in self._request["links"].items():
                self._link(place, target, root)
            # Hidden: it cannot be taken away where the pilot's user has no rights.
            place = SOURCES
            _mount(place, _NOTHING, source="tmpfs", kind="tmpfs mode=0,size=4k")
            _mount("/", _MS_REMOUNT | _MS_BIND | _NOTHING)
            _give_up_rights()
        except OSError as error:
            self.error = {"room": f"{place}: {error.strerror}"}
            return
        try:
            os.chdir(self._request["folder"])
            program = _program(self._request["arguments"][0], self._request["environment"])
            if self._calls is not None:
                _filter_calls(self._calls)
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
        _mount(place, _MS_BIND, source=source)
        found = os.statvfs(place).f_flag
        flags = _MS_NOSUID | _MS_NODEV | (found & _SAME_FLAGS)
        flags |= _MS_RELATIME if found & _ST_RELATIME else 0
        flags |= found & _MS_RDONLY if writable else _MS_RDONLY
        _mount(place, _MS_REMOUNT | _MS_BIND | flags)

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


class Holder:
    """``calls``: the filter on system calls, None: none for this kind of processor."""

    def __init__(self, connection: Channel, wake: int, calls: bytes | None) -> None:
        self._connection = connection
        self._wake = wake
        self._calls = calls
        self._job: ToolStart | None = None
        self._cpu, self._memory = 0.0, 0

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
        self._job, self._cpu, self._memory = job, 0.0, 0
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
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self._connection.send(
            {"status": status, "cpu": self._cpu, "memory": self._memory, "own": own}
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


def _give_up_rights() -> None:
    header, none = _CapabilityHeader(_CAPABILITY_VERSION, 0), (_Capabilities * 2)()
    _called(_libc.capset(ctypes.byref(header), ctypes.byref(none)))


def _filter_calls(program: bytes) -> None:
    known = _Filter(len(program) // 8, program)
    _called(_libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(known), 0, 0))


def _mount(place: str, flags: int, *, source: str | None = None, kind: str = "") -> None:
    """``kind``: of a new file system, and its options, with a blank between."""
    name, _, options = kind.partition(" ")
    texts = [text and os.fsencode(text) for text in (source, place, name or None)]
    _called(_libc.mount(*texts, ctypes.c_ulong(flags), options.encode() or None))


def _called(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _shut_off(open_files: int) -> None:
    """No program reads this process's memory or has its descriptors, and none gets rights back by
    its user's number."""
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # the list's own
            if int(name) > sys.stderr.fileno():
                os.set_inheritable(int(name), False)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = open_files if hard == resource.RLIM_INFINITY else min(open_files, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, most), most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _called(_libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0))
    with open("/proc/sys/kernel/cap_last_cap") as file:
        last = int(file.read())
    for capability in range(last + 1):
        _called(_libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0))


def _route(network: str, gateway: str | None) -> None:
    """Through ``gateway``; None: nobody gets there. See rtnetlink(7)."""
    address, _, bits = network.partition("/")
    attributes = struct.pack("HH4s", 8, _RTA_DST, socket.inet_aton(address))
    if gateway is not None:
        attributes += struct.pack("HH4s", 8, _RTA_GATEWAY, socket.inet_aton(gateway))
    kind = _RTN_PROHIBIT if gateway is None else _RTN_UNICAST
    route = struct.pack(
        "BBBBBBBBI", socket.AF_INET, int(bits), 0, 0, _RT_TABLE_MAIN, _RTPROT_STATIC, 0, kind, 0
    )
    length = 16 + len(route + attributes)
    header = struct.pack("IHHII", length, _RTM_NEWROUTE, _NEW_AND_ANSWERED, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as kernel:
        kernel.sendall(header + route + attributes)
        number = -struct.unpack_from("i", kernel.recv(4096), 16)[0]
    if number:
        raise OSError(number, f"the route to {network}: {os.strerror(number)}")


def _woken_by_children() -> int:
    """Readable when one has ended."""
    reading, writing = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return reading


def main() -> None:
    wake = _woken_by_children()
    connection = Channel(socket.socket(fileno=int(sys.argv[1])))
    with contextlib.suppress(EOFError, ConnectionError):
        connection.send({"made": True})
        settings, _ = connection.receive()
        for network in settings["refused"]:
            _route(network, None)
        for network in settings["allowed"]:
            _route(network, settings["gateway"])
        _shut_off(settings["open_files"])
        connection.send({"memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss})
        calls = settings["calls"]
        Holder(connection, wake, None if calls is None else bytes.fromhex(calls)).serve()


if __name__ == "__main__":
    main()
