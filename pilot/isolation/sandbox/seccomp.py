"""Filters for system calls of programs in a sandbox.

They are classic BPF programs for ``bwrap --seccomp`` and ``prctl(PR_SET_SECCOMP)``. See seccomp(2).
"""

import errno
import platform
import struct
from collections.abc import Mapping, Sequence
from enum import Enum, auto

from pilot.isolation.sandbox.kernel import CLONE_NEWIPC
from pilot.isolation.sandbox.system_calls import ARCHITECTURES, FIRST_UNKNOWN

_LOAD, _JUMP_EQUAL, _JUMP_GREATER_EQUAL, _JUMP_ANY_BIT, _RETURN = (
    0x20,
    0x15,
    0x35,
    0x45,
    0x06,
)
_AND = 0x54
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
#: Offsets in seccomp_data: the number of the call, the architecture, and the low half of the first
#: argument. Arguments take eight bytes each.
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
#: Bit of calls with x86-64's 32-bit pointers.
_X32 = 0x40000000

_CLONE_THREAD = 0x00010000
#: CLONE_NEWTIME, _NEWNS, _NEWCGROUP, _NEWUTS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET.
_CLONE_NEW = 0x7E020080
#: Limits of file size, data and processes, which are set before a tool starts.
_FIXED_LIMITS = (1, 2, 6)
#: Requests that insert input into a terminal: TIOCSTI, TIOCLINUX.
_TYPING = (0x5412, 0x541C)
#: Groups (bits 8 to 15) of requests to file systems: ext4 and others (f), XFS and others (X),
#: versions of files (v), btrfs, F2FS, bcachefs, Ceph.
_FILE_GROUPS = tuple(group << 8 for group in (0x66, 0x58, 0x76, 0x94, 0xF5, 0xBC, 0x97))
#: Requests of these groups that programs need and that change nothing except data: FS_IOC_GETFLAGS
#: (and with 32 bits), FS_IOC_FSGETXATTR, FS_IOC_FIEMAP, FICLONE, FICLONERANGE, FIDEDUPERANGE.
_FILE_REQUESTS = (
    0x80086601,
    0x80046601,
    0x801C581F,
    0xC020660B,
    0x40049409,
    0x4020940D,
    0xC0189436,
)
#: Commands of fcntl(2) that delay others who open a file, or report changes in a folder:
#: F_SETLEASE, F_NOTIFY, F_SETDELEG.
_LEASES = (1024, 1026, 1040)
#: Socket families: AF_UNIX, AF_INET, AF_INET6, AF_NETLINK.
_SOCKETS = (1, 2, 10, 16)


class Filter(Enum):
    """Kinds of filters.

    ``JAVASCRIPT`` forbids other processes and rare features of the kernel. Threads stay possible,
    as node.js needs them. ``TOOL`` allows what ordinary programs do, but no new namespaces, mounts
    or keys, no changes to the machine, and no change of limits.
    """

    JAVASCRIPT = auto()
    TOOL = auto()


# fmt: off
_MOUNTS = (
    "mount", "umount2", "pivot_root", "chroot", "setns", "open_tree", "move_mount", "fsopen",
    "fsconfig", "fsmount", "fspick", "mount_setattr",
)
_KEYS = ("add_key", "request_key", "keyctl")
_IO_URING = ("io_uring_setup", "io_uring_enter", "io_uring_register")
_MACHINE = (
    "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "iopl",
    "ioperm", "swapon", "swapoff", "reboot", "acct", "quotactl", "vhangup", "settimeofday",
    "clock_settime", "clock_adjtime", "adjtimex", "syslog",
)
_FORBIDDEN_CALLS = {
    Filter.JAVASCRIPT: (
        "fork", "vfork", "execveat", "ptrace", "process_vm_readv", "process_vm_writev", "kill",
        "pidfd_open", "pidfd_getfd", "socket", "unshare", "setns", "mount", *_KEYS, "bpf",
        "perf_event_open", "userfaultfd", "io_uring_setup", "memfd_create", "shmget",
    ),
    Filter.TOOL: (
        *_MOUNTS, *_KEYS, *_IO_URING, *_MACHINE, "bpf", "perf_event_open", "userfaultfd",
        "lookup_dcookie", "fanotify_init", "name_to_handle_at", "open_by_handle_at", "pidfd_getfd",
    ),
}
# fmt: on


def filter_program(kind: Filter, machine: str | None = None) -> bytes | None:
    """Return the filter for an architecture, by default this machine's.

    Returns:
        None if the numbers of the architecture's calls are not known here.
    """
    architecture = ARCHITECTURES.get(machine or platform.machine())
    if architecture is None:
        return None
    calls = architecture.calls
    program = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_JUMP_EQUAL, architecture.audit, yes=1),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER),
        _step(_JUMP_GREATER_EQUAL, _X32, no=1),
        _refuse(errno.EPERM),
        _step(_JUMP_GREATER_EQUAL, FIRST_UNKNOWN, no=1),
        _refuse(errno.ENOSYS),
        # A filter cannot inspect its arguments. The C library falls back to clone.
        *_if_one_of([calls["clone3"]], errno.ENOSYS),
        *_if_one_of(architecture.numbers(_FORBIDDEN_CALLS[kind]), errno.EPERM),
    ]
    if kind is Filter.JAVASCRIPT:
        program += _limit_to_call(
            calls["clone"], [*_unless_bits(_CLONE_THREAD), _refuse(errno.EPERM)]
        )
    else:
        program += _tool_arguments(calls)
    return b"".join([*program, _step(_RETURN, _ALLOW)])


def _tool_arguments(calls: Mapping[str, int]) -> list[bytes]:
    """Return the steps for calls that a tool may make with some arguments only."""
    return [
        *_limit_to_call(
            calls["clone"],
            [_argument(0), _step(_JUMP_ANY_BIT, _CLONE_NEW, no=1), _refuse(errno.EPERM)],
        ),
        # The starter of tools makes this call before each tool. Tools have no right to it.
        *_limit_to_call(
            calls["unshare"],
            [_argument(0), _step(_JUMP_EQUAL, CLONE_NEWIPC, yes=1), _refuse(errno.EPERM)],
        ),
        *_limit_to_call(calls["ioctl"], _build_ioctl_steps()),
        # The kernel gives this error for files of other users.
        *_limit_to_call(calls["fcntl"], [_argument(1), *_if_one_of(_LEASES, errno.EACCES)]),
        *(
            step
            for name in ("socket", "socketpair")
            for step in _limit_to_call(
                calls[name],
                [_argument(0), *_unless_one_of(_SOCKETS), _refuse(errno.EAFNOSUPPORT)],
            )
        ),
        *_limit_to_call(
            calls["setrlimit"], [_argument(0), *_if_one_of(_FIXED_LIMITS, errno.EPERM)]
        ),
        # A third argument that is no null pointer sets limits. The first argument names another
        # process.
        *_limit_to_call(
            calls["prlimit64"],
            _with_pointer(
                2,
                [
                    _argument(0),
                    _step(_JUMP_EQUAL, 0, yes=1),
                    _refuse(errno.EPERM),
                    _argument(1),
                    *_if_one_of(_FIXED_LIMITS, errno.EPERM),
                ],
            ),
        ),
    ]


def _build_ioctl_steps() -> list[bytes]:
    """Return the steps for ioctl(2).

    A file system gives the same error for an unsupported request, so programs expect it.
    """
    refusal = _if_one_of(_FILE_GROUPS, errno.EOPNOTSUPP)
    return [
        _argument(1),
        *_if_one_of(_TYPING, errno.EPERM),
        *_unless_one_of(_FILE_REQUESTS, over=1 + len(refusal)),
        _step(_AND, 0xFF00),
        *refusal,
    ]


def _limit_to_call(number: int, steps: Sequence[bytes]) -> list[bytes]:
    """Return ``steps`` for one call. The call is allowed if they do not refuse it."""
    return [_step(_JUMP_EQUAL, number, no=len(steps) + 1), *steps, _step(_RETURN, _ALLOW)]


def _argument(place: int) -> bytes:
    """Return the step that loads the low half of an argument of the call."""
    return _step(_LOAD, _ARGUMENTS + 8 * place)


def _unless_bits(bits: int) -> list[bytes]:
    """Skip the next step if the first argument of the call has any of the bits."""
    return [_argument(0), _step(_JUMP_ANY_BIT, bits, yes=1)]


def _unless_one_of(values: Sequence[int], *, over: int = 1) -> list[bytes]:
    """Skip the next ``over`` steps if the loaded value is one of these."""
    return [
        _step(_JUMP_EQUAL, value, yes=len(values) - 1 - place + over)
        for place, value in enumerate(values)
    ]


def _if_one_of(values: Sequence[int], number: int) -> list[bytes]:
    """Refuse the call with error ``number`` if the loaded value is one of these."""
    *others, last = values
    return [
        *(_step(_JUMP_EQUAL, value, yes=len(others) - place) for place, value in enumerate(others)),
        _step(_JUMP_EQUAL, last, no=1),
        _refuse(number),
    ]


def _with_pointer(place: int, steps: Sequence[bytes]) -> list[bytes]:
    """Run ``steps`` only if the argument at ``place`` is no null pointer."""
    return [
        _argument(place),
        _step(_JUMP_EQUAL, 0, no=2),
        _step(_LOAD, _ARGUMENTS + 8 * place + 4),
        _step(_JUMP_EQUAL, 0, yes=len(steps)),
        *steps,
    ]


def _refuse(number: int) -> bytes:
    return _step(_RETURN, _ERRNO | number)


def _step(code: int, value: int, *, yes: int = 0, no: int = 0) -> bytes:
    """Return one instruction.

    ``yes`` and ``no`` are the numbers of instructions that a jump skips.
    """
    return struct.pack("=HBBI", code, yes, no, value)
