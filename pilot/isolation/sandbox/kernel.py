"""System calls for sandboxes that Python has no functions for.

All functions raise ``OSError``.
"""

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


def unshare_mounts() -> None:
    """Give this thread its own mount namespace."""
    _check_result(_libc.unshare(_CLONE_NEWNS))


def unshare_shared_memory() -> None:
    """Give this thread its own IPC namespace.

    It contains message queues of System V and POSIX, and shared memory and semaphores of System V.
    """
    _check_result(_libc.unshare(CLONE_NEWIPC))


def unshare_network() -> None:
    """Give this thread its own network namespace, with a loopback interface that is down."""
    _check_result(_libc.unshare(_CLONE_NEWNET))


def bind(source: str, place: str, *, writable: bool) -> None:
    """Show the file or folder ``source`` at the existing path ``place``."""
    _mount(place, _MS_BIND, source=source)
    flags = _read_flags(place) | _MS_NOSUID | _MS_NODEV
    _mount(place, _MS_REMOUNT | _MS_BIND | flags | (0 if writable else _MS_RDONLY))


def bind_all(source: str, place: str) -> None:
    """Show ``source`` with everything mounted in it at ``place``, with the same rights."""
    _mount(place, _MS_BIND | _MS_RECURSIVE, source=source)


def bind_copy(source: str, place: str) -> None:
    """Show what is mounted at ``source`` at ``place`` as well, with the same rights."""
    _mount(place, _MS_BIND, source=source)


def propagate_mounts(place: str) -> None:
    """Propagate later mounts below ``place`` to namespaces that are copies of this one."""
    _mount(place, _MS_SHARED)


def receive_mounts(place: str) -> None:
    """Receive mounts below ``place`` from the namespace that this one was copied from.

    Mounts here do not propagate back.
    """
    _mount(place, _MS_SLAVE)


def unmount(place: str) -> None:
    """Unmount ``place`` at once. Open files stay open."""
    _check_result(_libc.umount2(os.fsencode(place), _MNT_DETACH))


def protect_devices() -> None:
    """Protect the modes and times of devices, which belong to the node.

    Reading and writing the devices stays possible. Without this, a program that owns them could
    change them.
    """
    for folder, _, names in os.walk("/dev"):
        for place in (folder, *(os.path.join(folder, name) for name in names)):
            if os.path.ismount(place):
                _mount(place, _MS_REMOUNT | _MS_BIND | _MS_RDONLY | _read_flags(place))


def protect_settings() -> None:
    """Make the kernel's settings in /proc read-only.

    Some belong to programs of root, some to these namespaces.
    """
    _mount("/proc", _MS_REMOUNT | _MS_BIND | _MS_RDONLY | _read_flags("/proc"))


def mount_terminals(limit: int) -> None:
    """Mount a separate set of at most ``limit`` pseudoterminals."""
    options = f"newinstance,ptmxmode=0666,mode=620,max={limit}"
    _mount("/dev/pts", _MS_NOSUID | _MS_NOEXEC, source="devpts", kind=f"devpts {options}")


def mount_memory(place: str, options: str) -> None:
    """Mount a file system in memory.

    Access times are off, so looking into a folder does not change it.
    """
    _mount(place, _MS_NOSUID | _MS_NODEV | _MS_NOATIME, source="tmpfs", kind=f"tmpfs {options}")


def hide(place: str) -> None:
    """Hide the content of a folder by an empty mount.

    Unmounting the content is not possible if the pilot's user has no rights.
    """
    _mount(place, _NOTHING, source="tmpfs", kind="tmpfs mode=0,size=4k")


def make_read_only(place: str) -> None:
    """Make a mount read-only."""
    _mount(place, _MS_REMOUNT | _MS_BIND | _NOTHING)


def drop_rights() -> None:
    """Drop most capabilities of this thread.

    It keeps those for new shared memory and for ending processes. Programs that it starts have none
    at all (see ``protect_process``). The kernel therefore lets no program change the priority or
    cores of this thread, which the next program inherits.
    """
    header, capabilities = _CapabilityHeader(_CAPABILITY_VERSION, 0), (_Capabilities * 2)()
    capabilities[0].effective = capabilities[0].permitted = 1 << _CAP_KILL | 1 << _CAP_SYS_ADMIN
    _check_result(_libc.capset(ctypes.byref(header), ctypes.byref(capabilities)))


def forbid_new_rights() -> None:
    """Prevent this thread and its programs from gaining rights by executing a program."""
    _check_result(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def filter_calls(program: bytes) -> None:
    """Install a filter of ``pilot.isolation.sandbox.seccomp`` for this thread."""
    filter_structure = _Filter(len(program) // 8, program)
    _check_result(
        _libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(filter_structure), 0, 0)
    )


def open_child_signals() -> int:
    """Return a descriptor that is readable when a child of any thread has ended.

    See signalfd(2). The function must be called before any thread starts.
    """
    numbers = (ctypes.c_ulong * (128 // ctypes.sizeof(ctypes.c_ulong)))()
    _libc.sigemptyset(ctypes.byref(numbers))
    _libc.sigaddset(ctypes.byref(numbers), signal.SIGCHLD)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    descriptor = _libc.signalfd(-1, ctypes.byref(numbers), os.O_NONBLOCK | os.O_CLOEXEC)
    _check_result(min(0, descriptor))
    return int(descriptor)


def protect_process(limits: Sequence[tuple[int, int]]) -> None:
    """Protect this process from programs and set limits.

    No program can read its memory or inherit its descriptors, regain capabilities, or exceed
    ``limits``, which apply to this process too.
    """
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # the descriptor of the list itself
            if int(name) > sys.stderr.fileno():
                os.set_inheritable(int(name), False)
    for number, limit in limits:
        lower_limit(number, limit)
    _check_result(_libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0))
    drop_bounding_set()


def clamp_to_hard_limit(number: int, limit: int) -> int:
    """Return ``limit``, or the hard limit of this process if that is lower."""
    _, hard = resource.getrlimit(number)
    return limit if hard == resource.RLIM_INFINITY else min(limit, hard)


def lower_limit(number: int, limit: int) -> None:
    """Lower the hard limit of this process permanently.

    A soft limit below it stays as it is.
    """
    soft, _ = resource.getrlimit(number)
    hard = clamp_to_hard_limit(number, limit)
    resource.setrlimit(number, (hard if soft == resource.RLIM_INFINITY else min(soft, hard), hard))


def drop_bounding_set() -> None:
    """Drop the capability bounding set of this thread, so that no program gains capabilities."""
    with open("/proc/sys/kernel/cap_last_cap") as file:
        last = int(file.read())
    for capability in range(last + 1):
        _check_result(_libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0))


def _read_flags(place: str) -> int:
    """Return the mount flags of ``place``."""
    flags = os.statvfs(place).f_flag
    return (flags & _SAME_FLAGS) | (_MS_RELATIME if flags & _ST_RELATIME else 0)


def _mount(place: str, flags: int, *, source: str | None = None, kind: str = "") -> None:
    """Call mount(2).

    ``kind`` is the type of a new file system and, after a space, its options.
    """
    name, _, options = kind.partition(" ")
    texts = [text and os.fsencode(text) for text in (source, place, name or None)]
    _check_result(_libc.mount(*texts, ctypes.c_ulong(flags), options.encode() or None))


def _check_result(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
