"""Files, processes and sockets of a node that do not belong to the job, and checks of what became
of them."""

import contextlib
import ctypes
import os
import pty
import resource
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import tty
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pydantic

from tests.attacks.tools.prelude import attached, c, call, libc
from tests.unit.pilot.slot_runner import Runner

#: Another process of the user of the pilot. It prints where its secret is and then its signals.
_PROCESS = """
import ctypes, os, signal, sys
secret = ctypes.create_string_buffer(os.environ["VICTIM_SECRET"].encode(), 64)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGUSR2])
file = os.open(sys.argv[1], os.O_RDONLY)
print(ctypes.addressof(secret), file, flush=True)
while True:
    print(signal.sigwait([signal.SIGUSR1, signal.SIGUSR2]).value, flush=True)
"""
_IPC_CREAT, _IPC_NOWAIT, _IPC_RMID, _USER_KEYRING = 0o1000, 0o4000, 0, -4
_KEYCTL_SEARCH, _KEYCTL_UNLINK = 10, 9


class NodeObjects:
    """Objects around a slot that do not belong to its jobs.

    ``folder`` is for storages. All secrets contain ``mark``.
    """

    def __init__(self, runner: Runner, folder: Path) -> None:
        self.runner = runner
        self.token = f"attacks-{uuid.uuid4().hex[:12]}"
        self.mark = f"nobody-may-see-{self.token}"
        #: The folder is not a temporary folder, as sandboxes replace these.
        self.home = Path(tempfile.mkdtemp(prefix=".sluice-attacks-", dir=Path.home()))
        self.store = folder
        self.slots = runner.run.path / "slots"
        self.files = {
            "data": self.store / "other" / "secret.dat",
            "job": self.slots / "1-1" / "in" / "secret.dat",
            "journal": runner.run.journals / "secret",
            "home_file": self.home / "secret.txt",
            "tmp": Path("/tmp") / self.token,
            "var_tmp": Path("/var/tmp") / self.token,
            "shm": Path("/dev/shm") / self.token,
        }
        #: The input of the job of the attack, in the storage.
        self.input = self.store / "in" / "a.dat"
        self.input_before = b""
        self._terminal: list[int] = []
        self._open = contextlib.ExitStack()
        self._create_files()
        self._slot = _read_process_state(runner.slot_pid)
        self._mode = stat.S_IMODE(runner.run.path.stat().st_mode)
        self.process = self._start_process()
        self.sockets = dict(self._open_sockets())
        self._create_shared_objects()
        self.prepare()

    def list_values(self) -> dict[str, Any]:
        """Return the values that an attack knows as ``v`` in its code."""
        paths = {name: str(path) for name, path in self.files.items()}
        folders = {"home": str(self.home), "store": str(self.store), "slots": str(self.slots)}
        return {
            **paths,
            **folders,
            "mark": self.mark,
            "token": self.token,
            "key": self._key,
            "run_folder": str(self.runner.run.path),
            "pilot": self.runner.server.pid,
            "slot": self.runner.slot_pid,
            "process": self.process.pid,
            "address": self._address,
            "descriptor": self._descriptor,
            "handle": _get_file_handle(self.files["data"]),
            "terminal": os.ttyname(self._terminal[1]),
            "package": pydantic.__file__,
            "own_address": find_own_address(),
            **{name: listener.getsockname()[1] for name, listener in self.sockets.items()
               if listener.family in (socket.AF_INET, socket.AF_INET6)},
            "database": str(self.home / ".s.PGSQL.5432"),
            "bus": str(self.store / "bus"),
            "input": str(self.input),
            "signals": self._slot["limits"][0][0],
            "messages": resource.getrlimit(resource.RLIMIT_MSGQUEUE)[0],
        }  # fmt: skip

    def prepare(self) -> None:
        """Restore the state before any attack."""
        for path in [
            p
            for name in ("tmp", "var_tmp", "shm")
            for p in _list_files_with_prefix(self.files[name])
        ]:
            path.unlink()
        for path in [
            *self.home.glob("left*"),
            *self.slots.glob("*/left"),
            *_list_files_beside(self.input),
        ]:
            path.unlink()
        self._create_files()
        self._remove_shared_objects(self._key + 1)
        server = psutil.Process(self.runner.server.pid)
        for pid in [server.pid, *(child.pid for child in server.children(recursive=True))]:
            _restore_process(pid, self._slot)
        _restore_process(self.process.pid, self._slot)
        # Processes that a slot starts have another priority than the slot, so they are left alone.
        Path(f"/proc/{self.process.pid}/oom_score_adj").write_text(self._slot["oom"])
        self._leave_one_message()
        self._before = _read_process_state(self.process.pid)
        self.runner.run.path.chmod(self._mode)
        os.utime(self.runner.run.path)
        for descriptor in self._terminal:
            os.close(descriptor)
        self._terminal = list(pty.openpty())
        tty.setraw(self._terminal[1])

    def close(self) -> None:
        self.prepare()
        self.process.kill()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()
        for descriptor in self._terminal:
            os.close(descriptor)
        self._open.close()
        self._remove_shared_objects(self._key)
        for name in ("tmp", "var_tmp", "shm"):
            self.files[name].unlink(missing_ok=True)
        shutil.rmtree(self.home)

    def is_file_changed(self, name: str) -> bool:
        """Return whether the file was written to, replaced or removed."""
        path = self.files[name]
        return not path.exists() or path.read_text() != self.mark

    def is_input_changed(self) -> bool:
        """Return whether the input was written to or replaced, or a file was put beside it."""
        has_file_beside = any(True for _ in _list_files_beside(self.input))
        return has_file_beside or self.input.read_bytes() != self.input_before

    def is_file_left_in_home(self) -> bool:
        """Return whether there is a new file in the home folder."""
        return any(self.home.glob("left*"))

    def is_run_folder_changed(self) -> bool:
        """Return whether the mode or the time of the run folder has changed."""
        status = self.runner.run.path.stat()
        return stat.S_IMODE(status.st_mode) != self._mode or status.st_mtime < 1000

    def has_process_got_signal(self) -> bool:
        """Return whether the process has got SIGUSR1. It reports SIGUSR1 before SIGUSR2."""
        self.process.send_signal(signal.SIGUSR2)
        if self._read_line() == str(signal.SIGUSR2.value):
            return False
        self._read_line()
        return True

    def is_process_changed(self) -> bool:
        """Return whether the limits or priorities of the process have changed."""
        return _read_process_state(self.process.pid) != self._before

    def restore_memory_if_changed(self) -> bool:
        """Return whether the memory of the process has changed, and restore it."""
        with open(f"/proc/{self.process.pid}/mem", "r+b", buffering=0) as memory:
            memory.seek(self._address)
            content = memory.read(len(self.mark))
            memory.seek(self._address)
            memory.write(self.mark.encode())
        return content != self.mark.encode()

    def has_datagram_arrived(self) -> bool:
        """Return whether a datagram has arrived."""
        with contextlib.suppress(BlockingIOError):
            return self.sockets["udp"].recv(64) == self.mark.encode()
        return False

    def has_terminal_input(self) -> bool:
        """Return whether there is new input on the terminal."""
        os.set_blocking(self._terminal[0], False)
        with contextlib.suppress(BlockingIOError):
            return os.read(self._terminal[0], 64) != b""
        return False

    def is_process_left(self) -> bool:
        """Return whether there is a process named after the token."""
        names = [process.info["name"] for process in psutil.process_iter(["name"])]
        return self.token[-15:] in names

    def _create_files(self) -> None:
        for path in self.files.values():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            path.write_text(self.mark)
            path.chmod(0o644)
        link = self.store / "in" / "link"
        link.parent.mkdir(exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(self.files["data"])

    def _start_process(self) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _PROCESS, self.files["data"], str(self.slots),
             self.mark[::-1]],
            env={"VICTIM_SECRET": self.mark},
            stdout=subprocess.PIPE,
            text=True,
        )  # fmt: skip
        self.process = process
        self._address, self._descriptor = map(int, self._read_line().split())
        return process

    def _read_line(self) -> str:
        if self.process.stdout is None:
            raise RuntimeError("the process says nothing")
        return self.process.stdout.readline().strip()

    def _open_sockets(self) -> Iterator[tuple[str, socket.socket]]:
        for name, address in (("tcp", "127.0.0.1"), ("own_tcp", find_own_address() or "127.0.0.1")):
            yield name, self._open_listener(socket.AF_INET, (address, 0))
        with contextlib.suppress(OSError):  # The machine may have no IPv6.
            yield "tcp6", self._open_listener(socket.AF_INET6, ("::1", 0))
        yield "abstract", self._open_listener(socket.AF_UNIX, f"\0{self.token}")
        yield "database", self._open_listener(socket.AF_UNIX, str(self.home / ".s.PGSQL.5432"))
        yield "bus", self._open_listener(socket.AF_UNIX, str(self.store / "bus"))
        udp = self._open.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", 0))
        udp.setblocking(False)
        yield "udp", udp

    def _open_listener(self, family: int, address: Any) -> socket.socket:
        listener = self._open.enter_context(socket.socket(family))
        listener.bind(address)
        listener.listen(64)
        return listener

    def _create_shared_objects(self) -> None:
        """Make shared memory, a message and a key that all processes of the user can find."""
        self._key = 0x51000000 + (uuid.uuid4().int & 0xFFFFFE)
        self._remove_shared_objects(self._key)
        memory = c("shmget", self._key, 4096, _IPC_CREAT | 0o600)
        place = attached(memory)
        ctypes.memmove(place, self.mark.encode(), len(self.mark))
        libc.shmdt(ctypes.c_void_p(place))
        c("msgget", self._key, _IPC_CREAT | 0o600)
        with contextlib.suppress(OSError):  # The kernel may have no keys.
            call("add_key", b"user", self.token.encode(), self.mark.encode(), len(self.mark),
                 _USER_KEYRING)  # fmt: skip

    def _leave_one_message(self) -> None:
        """Leave exactly one message in the queue."""
        queue, slot = c("msgget", self._key, 0), ctypes.create_string_buffer(128)
        with contextlib.suppress(OSError):  # The queue may be empty.
            c("msgrcv", queue, slot, 64, 0, _IPC_NOWAIT)
        c("msgsnd", queue, b"\1".ljust(8, b"\0") + self.mark.encode(), len(self.mark), 0)

    def _remove_shared_objects(self, key: int) -> None:
        with contextlib.suppress(OSError):
            c("shmctl", c("shmget", key, 0, 0), _IPC_RMID, None)
        with contextlib.suppress(OSError):
            c("msgctl", c("msgget", key, 0), _IPC_RMID, None)
        with contextlib.suppress(OSError):
            c("semctl", c("semget", key, 0, 0), 0, _IPC_RMID)
        name = self.token if key == self._key else f"{self.token}-left"
        with contextlib.suppress(OSError):
            call("mq_unlink", name.encode())
        with contextlib.suppress(OSError):
            key_id = call("keyctl", _KEYCTL_SEARCH, _USER_KEYRING, b"user", name.encode(), 0)
            call("keyctl", _KEYCTL_UNLINK, key_id, _USER_KEYRING)


def find_own_address() -> str:
    """Return the address of this machine in its network, or an empty text. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out, contextlib.suppress(OSError):
        out.connect(("192.0.2.1", 9))  # This is an address for documentation (RFC 5737).
        return str(out.getsockname()[0])
    return ""


def _list_files_with_prefix(path: Path) -> Iterator[Path]:
    """Return the files beside this file whose names begin with its name."""
    return path.parent.glob(f"{path.name}-*")


def _list_files_beside(path: Path) -> Iterator[Path]:
    return path.parent.glob(f"{path.name}.*")


#: Limits that attacks change.
_LIMITS = (resource.RLIMIT_SIGPENDING,)


def _read_process_state(pid: int) -> dict[str, Any]:
    return {
        "limits": [resource.prlimit(pid, limit) for limit in _LIMITS],
        "cores": os.sched_getaffinity(pid),
        "class": os.sched_getscheduler(pid),
        "nice": os.getpriority(os.PRIO_PROCESS, pid),
        "oom": Path(f"/proc/{pid}/oom_score_adj").read_text(),
    }


def _restore_process(pid: int, before: dict[str, Any]) -> None:
    for limit, (soft, _) in zip(_LIMITS, before["limits"], strict=True):
        _, hard = resource.prlimit(pid, limit)  # The holder of a sandbox has a lower limit.
        resource.prlimit(pid, limit, (min(soft, hard), hard))
    os.sched_setaffinity(pid, before["cores"])
    os.sched_setscheduler(pid, before["class"], os.sched_param(0))


def _get_file_handle(path: Path) -> str:
    """Return the handle of the file, by which it can be opened without a path. See
    name_to_handle_at(2)."""
    handle = ctypes.create_string_buffer(b"\x80\0\0\0".ljust(136, b"\0"), 136)
    mount_id = ctypes.c_int()
    c("name_to_handle_at", -100, os.fsencode(path), handle, ctypes.byref(mount_id), 0)
    return handle.raw[: 8 + handle.raw[0]].hex()
