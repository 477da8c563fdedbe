"""What the kernel is asked for to make a program's sandbox: calls for which Python has no function.
All raise ``OSError``."""

import contextlib
import ctypes
import os
import resource
import signal
import sys
from collections.abc import Sequence

CLONE_NEWIPC = 0x08000000
_CLONE_NEWNS, _CLONE_NEWNET = 0x00020000, 0x40000000
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 1, 2, 4, 8
_MS_REMOUNT, _MS_NOATIME, _MS_NODIRATIME, _MS_BIND, _MS_RELATIME = 32, 1024, 2048, 4096, 1 << 21
_MS_RECURSIVE, _MS_SLAVE, _MS_SHARED, _MNT_DETACH = 1 << 14, 1 << 19, 1 << 20, 2
_NOTHING = _MS_RDONLY | _MS_NOSUID | _MS_NODEV
#: Flag of statvfs(3) that has another number in mount(2).
_ST_RELATIME = 4096
_SAME_FLAGS = _MS_RDONLY | _MS_NOSUID | _MS_NODEV | _MS_NOEXEC | _MS_NOATIME | _MS_NODIRATIME
_PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 4, 22, 24, 38
_SECCOMP_MODE_FILTER = 2
_CAPABILITY_VERSION = 0x20080522
_CAP_KILL, _CAP_SYS_ADMIN = 5, 21

_libc = ctypes.CDLL(None, use_errno=True)


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Capabilities(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint32) for name in ("effective", "permitted", "inheritable"))


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("program", ctypes.c_char_p))


def own_mounts() -> None:
    """Of this thread, from here on."""
    _called(_libc.unshare(_CLONE_NEWNS))


def own_shared_memory() -> None:
    """Of this thread, from here on: System V's and POSIX's message queues, and System V's memory
    and semaphores."""
    _called(_libc.unshare(CLONE_NEWIPC))


def own_network() -> None:
    """Of this thread, from here on, with nothing but a loopback interface, which is down."""
    _called(_libc.unshare(_CLONE_NEWNET))


def bind(source: str, place: str, *, writable: bool) -> None:
    """The file or folder ``source`` is seen at ``place``, which is there."""
    _mount(place, _MS_BIND, source=source)
    flags = _flags(place) | _MS_NOSUID | _MS_NODEV
    _mount(place, _MS_REMOUNT | _MS_BIND | flags | (0 if writable else _MS_RDONLY))


def bind_all(source: str, place: str) -> None:
    """The file or folder ``source``, with all that is mounted in it, is seen at ``place`` with the
    same rights."""
    _mount(place, _MS_BIND | _MS_RECURSIVE, source=source)


def bind_again(source: str, place: str) -> None:
    """What is mounted at ``source`` is seen at ``place`` as well, with the same rights."""
    _mount(place, _MS_BIND, source=source)


def pass_on(place: str) -> None:
    """What is mounted below it from here on is seen in the namespaces that are copied of this
    one."""
    _mount(place, _MS_SHARED)


def follow(place: str) -> None:
    """What is mounted below it in the namespace that this one is a copy of is seen here, and
    nothing the other way round."""
    _mount(place, _MS_SLAVE)


def unmount(place: str) -> None:
    """At once; who has it open keeps that."""
    _called(_libc.umount2(os.fsencode(place), _MNT_DETACH))


def keep_devices() -> None:
    """As they are: what can be read from them and written to them still can, but their modes and
    times, which are the node's, cannot be changed by a program that owns them."""
    for folder, _, names in os.walk("/dev"):
        for place in (folder, *(os.path.join(folder, name) for name in names)):
            if os.path.ismount(place):
                _mount(place, _MS_REMOUNT | _MS_BIND | _MS_RDONLY | _flags(place))


def keep_settings() -> None:
    """Of the kernel's, in /proc, as they are: some belong to root's programs, some to these
    namespaces."""
    _mount("/proc", _MS_REMOUNT | _MS_BIND | _MS_RDONLY | _flags("/proc"))


def mount_terminals(most: int) -> None:
    """The terminals that programs make are counted apart from all others."""
    options = f"newinstance,ptmxmode=0666,mode=620,max={most}"
    _mount("/dev/pts", _MS_NOSUID | _MS_NOEXEC, source="devpts", kind=f"devpts {options}")


def mount_memory(place: str, options: str) -> None:
    """A file system in memory. Nobody has read its folders who has only looked into them."""
    _mount(place, _MS_NOSUID | _MS_NODEV | _MS_NOATIME, source="tmpfs", kind=f"tmpfs {options}")


def hide(place: str) -> None:
    """What is in a folder. (It cannot be taken away where the pilot's user has no rights.)"""
    _mount(place, _NOTHING, source="tmpfs", kind="tmpfs mode=0,size=4k")


def only_read(place: str) -> None:
    """Of what is mounted there, nothing can be written any more."""
    _mount(place, _MS_REMOUNT | _MS_BIND | _NOTHING)


def give_up_rights() -> None:
    """Of this thread, but to renew shared memory and to end processes. What it starts has none at
    all (see ``shut_off``), so that the kernel lets no program touch this thread's priority or
    cores, which the next program will have."""
    header, kept = _CapabilityHeader(_CAPABILITY_VERSION, 0), (_Capabilities * 2)()
    kept[0].effective = kept[0].permitted = 1 << _CAP_KILL | 1 << _CAP_SYS_ADMIN
    _called(_libc.capset(ctypes.byref(header), ctypes.byref(kept)))


def gain_nothing() -> None:
    """This thread, and what it starts: no program that it becomes gives it more rights."""
    _called(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def filter_calls(program: bytes) -> None:
    """Of this thread, by a program of ``pilot.sandbox.seccomp``."""
    known = _Filter(len(program) // 8, program)
    _called(_libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(known), 0, 0))


def ends_of_children() -> int:
    """A descriptor that can be read when a child has ended, by any thread; see signalfd(2). To be
    called before any is started."""
    numbers = (ctypes.c_ulong * (128 // ctypes.sizeof(ctypes.c_ulong)))()
    _libc.sigemptyset(ctypes.byref(numbers))
    _libc.sigaddset(ctypes.byref(numbers), signal.SIGCHLD)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    descriptor = _libc.signalfd(-1, ctypes.byref(numbers), os.O_NONBLOCK | os.O_CLOEXEC)
    _called(min(0, descriptor))
    return int(descriptor)


def shut_off(limits: Sequence[tuple[int, int]]) -> None:
    """No program reads this process's memory or has its descriptors, and none gets rights back by
    its user's number, or beyond ``limits``, which are this process's as well."""
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # the list's own
            if int(name) > sys.stderr.fileno():
                os.set_inheritable(int(name), False)
    for number, most in limits:
        lower_limit(number, most)
    _called(_libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0))
    drop_bounding_set()


def within_hard(number: int, most: int) -> int:
    """``most``, or what this process may have at the most of a resource where that is less."""
    _, hard = resource.getrlimit(number)
    return most if hard == resource.RLIM_INFINITY else min(most, hard)


def lower_limit(number: int, most: int) -> None:
    """Of this process, for good. What programs find set stays where it is below that."""
    soft, _ = resource.getrlimit(number)
    hard = within_hard(number, most)
    resource.setrlimit(number, (hard if soft == resource.RLIM_INFINITY else min(soft, hard), hard))


def drop_bounding_set() -> None:
    """Of this thread: no program that it starts has a right that its user has not."""
    with open("/proc/sys/kernel/cap_last_cap") as file:
        last = int(file.read())
    for capability in range(last + 1):
        _called(_libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0))


def _flags(place: str) -> int:
    """Of what is mounted there."""
    found = os.statvfs(place).f_flag
    return (found & _SAME_FLAGS) | (_MS_RELATIME if found & _ST_RELATIME else 0)


def _mount(place: str, flags: int, *, source: str | None = None, kind: str = "") -> None:
    """``kind``: of a new file system, and its options, with a blank between."""
    name, _, options = kind.partition(" ")
    texts = [text and os.fsencode(text) for text in (source, place, name or None)]
    _called(_libc.mount(*texts, ctypes.c_ulong(flags), options.encode() or None))


def _called(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
