"""What the programs of attacks begin with: this file's text stands before theirs, so it has nothing
but the standard library.

``v`` in a program is what the tester tells it (see ``surroundings.py``), and ``v.answer``, the
descriptor by which it says how it went. ``sys.argv[1]`` is the job's input. A program that is
refused what it wants raises ``OSError``, or ``NothingError`` where it gets less than it wants. Any
other exception is a fault of its own.
"""

# What is imported here and not used is for the programs.
# ruff: noqa: F401
import ctypes
import errno
import fcntl
import json
import mmap
import os
import resource
import signal
import socket
import stat
import struct
import sys
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

#: Numbers of system calls that libraries have no function for: (x86_64, aarch64).
_NUMBERS = {
    "add_key": (248, 217),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "clone3": (435, 435),
    "open_tree": (428, 428),
    "fsopen": (430, 430),
    "pidfd_getfd": (438, 438),
    "finit_module": (313, 273),
    "file_setattr": (469, 469),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "mq_timedsend": (242, 182),
    "mq_timedreceive": (243, 183),
}
#: FS_IOC_GETFLAGS and FS_IOC_SETFLAGS; FS_IOC_GETVERSION and FS_IOC_SETVERSION.
_FLAGS, _VERSION = (0x80086601, 0x40086602), (0x80087601, 0x40087602)
_MACHINES = ("x86_64", "aarch64")

libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
libc.shmat.restype = ctypes.c_ssize_t
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


class NothingError(Exception):
    """What was wanted is not there, or has come to nothing."""


class _ChildError(Exception):
    """``answer``: of a child that was refused what it wanted."""

    def __init__(self, answer: str) -> None:
        super().__init__(answer)
        self.answer = answer


def _checked(name: str, result: int) -> int:
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def c(name: str, *arguments: Any) -> int:
    """A function of the C library. Raises ``OSError``."""
    return _checked(name, getattr(libc, name)(*arguments))


def call(name: str, *arguments: Any) -> int:
    """A system call. Raises ``OSError``."""
    number = _NUMBERS[name][_MACHINES.index(os.uname().machine)]
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return _checked(name, libc.syscall(ctypes.c_long(number), *wide))


def require(condition: object, why: str = "there is none") -> None:
    if not condition:
        raise NothingError(why)


def first(found: Iterable[str]) -> str:
    for one in found:
        return one
    raise NothingError("there is none")


def attached(memory: int) -> int:
    """The address of System V's shared memory."""
    return _checked("shmat", libc.shmat(memory, None, 0))


def touch(path: str) -> None:
    """Opens a file for writing, and leaves it as it is."""
    os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))


def flags(path: str, read_by: int = _FLAGS[0]) -> int:
    """Of a file or folder; see ioctl_iflags(2)."""
    found = os.open(path, os.O_RDONLY)
    try:
        answer = fcntl.ioctl(found, read_by, bytes(8))
    finally:
        os.close(found)
    return int(struct.unpack("Ii", answer)[0])


def add_flag(path: str, flag: int, read_by: int = _FLAGS[0], set_by: int = _FLAGS[1]) -> None:
    found = os.open(path, os.O_RDONLY)
    try:
        fcntl.ioctl(found, set_by, struct.pack("Q", flags(path, read_by) | flag))
    finally:
        os.close(found)


def others() -> list[int]:
    """The processes to be seen, but for this one."""
    return [
        int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()
    ]


def read(path: str) -> bytes:
    """Empty where it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def parent(pid: int) -> int:
    """0: none that can be seen."""
    fields = read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return int(fields[1]) if fields else 0


def ancestors(last: int) -> set[int]:
    """The processes that this one comes from, up to ``last``, or the first to be seen."""
    pid, found = os.getpid(), set()
    while pid != last and (pid := parent(pid)):
        found.add(pid)
    return found


def family(last: int) -> set[int]:
    """These, and their other children, which may become the next job."""
    found = ancestors(last)
    return found | {pid for pid in others() if parent(pid) in found}


def each_thread(pids: Iterable[int], act: Callable[[int], object]) -> None:
    """Does it to all their threads. Raises where none lets it be done."""
    refused: Exception = NothingError("there are none")
    done = 0
    for thread in [int(name) for pid in pids for name in os.listdir(f"/proc/{pid}/task")]:
        try:
            act(thread)
            done += 1
        except OSError as error:
            refused = error
    if not done:
        raise refused


#: Nobody else sets such a limit.
_LOWERED = 4711


def lower(pid: int) -> None:
    """The number of signals that may wait for a process."""
    _, hard = resource.prlimit(pid, resource.RLIMIT_SIGPENDING)
    resource.prlimit(pid, resource.RLIMIT_SIGPENDING, (_LOWERED, hard))


def in_child(act: Callable[[], object]) -> None:
    """Does it in a process of its own. Raises where it fails there."""
    answer = _answer_of_child(lambda _: act())
    if answer != "SUCCEEDED":
        raise _ChildError(answer)


def carry_out(acts: dict[str, Callable[[Any], object]], told: dict[str, Any]) -> None:
    """Each in a process and a folder of its own. Writes down, as a JSON object by their names, how
    they went: see ``_tried``."""
    said = {}
    for number, (name, act) in enumerate(acts.items()):

        def attack(answer: int, act: Callable[[Any], object] = act, at: str = f"{number}") -> None:
            os.mkdir(at)
            os.chdir(at)
            act(SimpleNamespace(**told, answer=answer))

        said[name] = _answer_of_child(attack)
    print(json.dumps(said))


def _answer_of_child(act: Callable[[int], object]) -> str:
    """How ``act``, which gets the descriptor that this is told by, goes in a process of its own: as
    ``_tried`` has it, or the name of the signal that has ended the process."""
    ours, theirs = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        os.close(ours)
        os.write(theirs, _tried(lambda: act(theirs)).encode()[:4096])
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(theirs)
    os.set_blocking(ours, False)  # what it left behind may have the other end
    try:
        answer = os.read(ours, 4096).decode()
    except BlockingIOError:
        answer = ""
    finally:
        os.close(ours)
    return answer or (signal.Signals(-status).name if status < 0 else "BROKEN: said nothing")


def _tried(act: Callable[[], object]) -> str:
    """A word, and what there is to say of it: how the system has refused it, as errno names it;
    NOTHING; BROKEN for faults of its own; SUCCEEDED."""
    try:
        act()
    except _ChildError as error:
        return error.answer
    except NothingError as error:
        return f"NOTHING: {error}"
    except MemoryError as error:
        return f"ENOMEM: {error!r}"
    except OSError as error:
        return f"{errno.errorcode.get(error.errno or 0, 'BROKEN')}: {error}"
    except BaseException as error:
        return f"BROKEN: {error!r}"
    return "SUCCEEDED"
