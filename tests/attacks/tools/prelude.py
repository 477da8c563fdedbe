"""The beginning of the programs of attacks. Its text is put before each program, so it uses the
standard library only.

``v`` in a program has the values that the test gives it (see ``node_objects.py``), and
``v.answer``, the descriptor for its answer. ``sys.argv[1]`` is the input of the job. A program that
is refused raises ``OSError``, or ``NothingError`` if it gets less than it wants. Any other
exception is a fault of the program."""

# The programs use the imports that are not used here.
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

#: Numbers of system calls without a library function: (x86_64, aarch64).
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
    """The wanted object does not exist, or the attempt had no effect."""


class _ChildError(Exception):
    """``answer`` is the answer of a child whose attempt failed."""

    def __init__(self, answer: str) -> None:
        super().__init__(answer)
        self.answer = answer


def _checked(name: str, result: int) -> int:
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def c(name: str, *arguments: Any) -> int:
    """Call a function of the C library. Raises ``OSError``."""
    return _checked(name, getattr(libc, name)(*arguments))


def call(name: str, *arguments: Any) -> int:
    """Call the kernel directly. Raises ``OSError``."""
    number = _NUMBERS[name][_MACHINES.index(os.uname().machine)]
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return _checked(name, libc.syscall(ctypes.c_long(number), *wide))


def require(condition: object, why: str = "there is none") -> None:
    if not condition:
        raise NothingError(why)


def first(items: Iterable[str]) -> str:
    for one in items:
        return one
    raise NothingError("there is none")


def attached(memory: int) -> int:
    """Return the address of System V shared memory."""
    return _checked("shmat", libc.shmat(memory, None, 0))


def touch(path: str) -> None:
    """Open a file for writing without changing it."""
    os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))


def flags(path: str, read_by: int = _FLAGS[0]) -> int:
    """Return the flags of a file or folder. See ioctl_iflags(2)."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        answer = fcntl.ioctl(descriptor, read_by, bytes(8))
    finally:
        os.close(descriptor)
    return int(struct.unpack("Ii", answer)[0])


def add_flag(path: str, flag: int, read_by: int = _FLAGS[0], set_by: int = _FLAGS[1]) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.ioctl(descriptor, set_by, struct.pack("Q", flags(path, read_by) | flag))
    finally:
        os.close(descriptor)


def others() -> list[int]:
    """Return all visible processes except this one."""
    return [
        int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()
    ]


def read(path: str) -> bytes:
    """Return the content of the file, or nothing if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def parent(pid: int) -> int:
    """Return the parent of a process, or 0 if it is not visible."""
    fields = read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return int(fields[1]) if fields else 0


def ancestors(last: int) -> set[int]:
    """Return the ancestors of this process up to ``last`` or to the first visible process."""
    pid, pids = os.getpid(), set()
    while pid != last and (pid := parent(pid)):
        pids.add(pid)
    return pids


def family(last: int) -> set[int]:
    """Return the ancestors and their other children, of which one may become the next job."""
    pids = ancestors(last)
    return pids | {pid for pid in others() if parent(pid) in pids}


def each_thread(pids: Iterable[int], act: Callable[[int], object]) -> None:
    """Call ``act`` for all threads of the processes. Raises if it fails for all of them."""
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


#: A limit that no other program sets.
_LOWERED = 4711


def lower(pid: int) -> None:
    """Lower the number of pending signals of a process."""
    _, hard = resource.prlimit(pid, resource.RLIMIT_SIGPENDING)
    resource.prlimit(pid, resource.RLIMIT_SIGPENDING, (_LOWERED, hard))


def in_child(act: Callable[[], object]) -> None:
    """Call ``act`` in a child process. Raises if it fails there."""
    answer = _answer_of_child(lambda _: act())
    if answer != "SUCCEEDED":
        raise _ChildError(answer)


def carry_out(acts: dict[str, Callable[[Any], object]], facts: dict[str, Any]) -> None:
    """Run each function in its own process and folder, and print a JSON object with the answers by
    name. See ``_tried``."""
    results = {}
    for number, (name, act) in enumerate(acts.items()):

        def attack(answer: int, act: Callable[[Any], object] = act, at: str = f"{number}") -> None:
            os.mkdir(at)
            os.chdir(at)
            act(SimpleNamespace(**facts, answer=answer))

        results[name] = _answer_of_child(attack)
    print(json.dumps(results))


def _answer_of_child(act: Callable[[int], object]) -> str:
    """Run ``act`` in a child process and return its answer. ``act`` gets the descriptor for the
    answer. The answer is as in ``_tried``, or the name of the signal that ended the process."""
    ours, theirs = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        os.close(ours)
        os.write(theirs, _tried(lambda: act(theirs)).encode()[:4096])
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(theirs)
    os.set_blocking(ours, False)  # A process that it left may have the other end.
    try:
        answer = os.read(ours, 4096).decode()
    except BlockingIOError:
        answer = ""
    finally:
        os.close(ours)
    return answer or (signal.Signals(-status).name if status < 0 else "BROKEN: said nothing")


def _tried(act: Callable[[], object]) -> str:
    """Return a word and details: SUCCEEDED, the errno name of a refusal, NOTHING, or BROKEN for a
    fault of the program."""
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
