"""Filters on system calls: what a program in a sandbox may ask of the kernel.

Classic BPF programs, as ``bwrap --seccomp`` and ``prctl(PR_SET_SECCOMP)`` take them: see
seccomp(2).
"""

import errno
import platform
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from pilot.sandbox.kernel import CLONE_NEWIPC

_LOAD, _JUMP_EQUAL, _JUMP_GREATER_EQUAL, _JUMP_ANY_BIT, _RETURN = (
    0x20,
    0x15,
    0x35,
    0x45,
    0x06,
)
_AND = 0x54
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
#: Places in the kernel's description of a call: its number, the architecture, the low half of its
#: arguments, which take eight bytes each.
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
#: Calls of x86-64's 32-bit pointers have this bit.
_X32 = 0x40000000

_CLONE_THREAD = 0x00010000
#: CLONE_NEWTIME, _NEWNS, _NEWCGROUP, _NEWUTS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET.
_CLONE_NEW = 0x7E020080
#: Limits of a process: size of files, data, processes; set before a tool starts.
_KEPT_LIMITS = (1, 2, 6)
#: Requests to a terminal that put words into its user's mouth: TIOCSTI, TIOCLINUX.
_TYPING = (0x5412, 0x541C)
#: Requests to a file system by the group (bits 8 to 15) that they are in: those of ext4 and others
#: (f), of XFS and others (X), versions of files (v), of btrfs, F2FS, bcachefs, Ceph.
_FILE_GROUPS = tuple(group << 8 for group in (0x66, 0x58, 0x76, 0x94, 0xF5, 0xBC, 0x97))
#: Those of them that programs need, and that leave nothing on a file but its data: FS_IOC_GETFLAGS
#: (and with 32 bits), FS_IOC_FSGETXATTR, FS_IOC_FIEMAP; FICLONE, FICLONERANGE, FIDEDUPERANGE.
_FILE_REQUESTS = (
    0x80086601,
    0x80046601,
    0x801C581F,
    0xC020660B,
    0x40049409,
    0x4020940D,
    0xC0189436,
)
#: Kinds of sockets: local ones, the Internet's, and what asks the kernel about its network.
_SOCKETS = (1, 2, 10, 16)


class Filter(Enum):
    """What is filtered. ``JAVASCRIPT``: starts no other process, and leaves the kernel's rare
    corners alone; threads stay possible, node.js needs them. ``TOOL``: what ordinary programs do;
    no new namespaces and mounts, no keys, no changes to the machine, no way out of its limits."""

    JAVASCRIPT = auto()
    TOOL = auto()


@dataclass(frozen=True, slots=True)
class _Machine:
    """``audit``: the kernel's number of the architecture; the others: of its calls."""

    audit: int
    clone: int
    ioctl: int
    socket: int
    unshare: int
    prlimit: int
    setrlimit: int
    refused: dict[Filter, tuple[int, ...]]


#: Numbers that are alike everywhere. clone3: the C library falls back to clone, whose flags can be
#: looked at. Of io_uring: setup, enter, register. Of processes: pidfd_open, pidfd_getfd. Of mounts:
#: open_tree, move_mount, fsopen, fsconfig, fsmount, fspick, mount_setattr. file_setattr sets what
#: the requests to a file system do.
_CLONE3 = 435
_IO_URING = (425, 426, 427)
_PIDFD_OPEN, _PIDFD_GETFD = 434, 438
_MOUNTS = (428, 429, 430, 431, 432, 433, 442)
_FILE_SETATTR = 469

# JAVASCRIPT: fork, vfork, execveat, ptrace, process_vm_readv and _writev, kill, socket, unshare,
# setns, mount, keys, bpf, perf_event_open, userfaultfd, memfd_create, shmget.
#
# TOOL: mount, umount2, pivot_root, chroot, setns; add_key, request_key, keyctl; bpf,
# perf_event_open, userfaultfd, lookup_dcookie, fanotify_init, syslog; kexec_load, kexec_file_load,
# init_module, finit_module, delete_module, iopl, ioperm; name_to_handle_at, open_by_handle_at;
# swapon, swapoff, reboot, acct, quotactl, vhangup; settimeofday, clock_settime, clock_adjtime,
# adjtimex.
# fmt: off
_MACHINES = {
    "x86_64": _Machine(
        0xC000003E, clone=56, ioctl=16, socket=41, unshare=272, prlimit=302, setrlimit=160,
        refused={
            Filter.JAVASCRIPT: (
                57, 58, 322, 101, 310, 311, 62, 41, 272, 308, 165, 248, 249, 250, 321, 298, 323,
                319, 29,
            ),
            Filter.TOOL: (
                165, 166, 155, 161, 308, 248, 249, 250, 321, 298, 323, 212, 300, 103, 246,
                320, 175, 313, 176, 172, 173, 303, 304, 167, 168, 169, 163, 179, 153, 164, 227,
                305, 159,
            ),
        },
    ),
    "aarch64": _Machine(
        0xC00000B7, clone=220, ioctl=29, socket=198, unshare=97, prlimit=261, setrlimit=164,
        refused={
            Filter.JAVASCRIPT: (
                281, 117, 270, 271, 129, 198, 97, 268, 40, 217, 218, 219, 280, 241, 282, 279, 194,
            ),
            Filter.TOOL: (
                40, 39, 41, 51, 268, 217, 218, 219, 280, 241, 282, 18, 262, 116, 104, 294,
                105, 273, 106, 264, 265, 224, 225, 142, 89, 60, 58, 170, 112, 266, 171,
            ),
        },
    ),
}
# fmt: on
_REFUSED_EVERYWHERE = {
    Filter.JAVASCRIPT: (_PIDFD_OPEN, _PIDFD_GETFD, _IO_URING[0]),
    Filter.TOOL: (_PIDFD_GETFD, *_IO_URING, *_MOUNTS, _FILE_SETATTR),
}


def filter_program(kind: Filter, machine: str | None = None) -> bytes | None:
    """The program for this kind of processor (or ``machine``); None for one whose numbers of calls
    are not known here."""
    known = _MACHINES.get(machine or platform.machine())
    if known is None:
        return None
    program = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_JUMP_EQUAL, known.audit, yes=1),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER),
        _step(_JUMP_GREATER_EQUAL, _X32, no=1),
        _refuse(errno.EPERM),
        _step(_JUMP_EQUAL, _CLONE3, no=1),
        _refuse(errno.ENOSYS),
    ]
    for number in (*known.refused[kind], *_REFUSED_EVERYWHERE[kind]):
        program += [_step(_JUMP_EQUAL, number, no=1), _refuse(errno.EPERM)]
    if kind is Filter.JAVASCRIPT:
        program += _of_call(known.clone, [*_unless_bits(_CLONE_THREAD), _refuse(errno.EPERM)])
    else:
        program += _tool_arguments(known)
    return b"".join([*program, _step(_RETURN, _ALLOW)])


def _tool_arguments(machine: _Machine) -> list[bytes]:
    """Calls that a tool may make with some arguments only."""
    return [
        *_of_call(
            machine.clone,
            [_argument(0), _step(_JUMP_ANY_BIT, _CLONE_NEW, no=1), _refuse(errno.EPERM)],
        ),
        # What starts tools calls this before each; they themselves have no right to it.
        *_of_call(
            machine.unshare,
            [_argument(0), _step(_JUMP_EQUAL, CLONE_NEWIPC, yes=1), _refuse(errno.EPERM)],
        ),
        *_of_call(machine.ioctl, _requests()),
        *_of_call(
            machine.socket,
            [_argument(0), *_unless_one_of(_SOCKETS), _refuse(errno.EAFNOSUPPORT)],
        ),
        *_of_call(machine.setrlimit, [_argument(0), *_if_one_of(_KEPT_LIMITS, errno.EPERM)]),
        # Its third argument, a pointer: to new limits. The first: another process.
        *_of_call(
            machine.prlimit,
            _with_pointer(
                2,
                [
                    _argument(0),
                    _step(_JUMP_EQUAL, 0, yes=1),
                    _refuse(errno.EPERM),
                    _argument(1),
                    *_if_one_of(_KEPT_LIMITS, errno.EPERM),
                ],
            ),
        ),
    ]


def _requests() -> list[bytes]:
    """Of ioctl(2). A file system answers so as well where it has no such thing, which programs are
    used to."""
    refused = _if_one_of(_FILE_GROUPS, errno.EOPNOTSUPP)
    return [
        _argument(1),
        *_if_one_of(_TYPING, errno.EPERM),
        *_unless_one_of(_FILE_REQUESTS, over=1 + len(refused)),
        _step(_AND, 0xFF00),
        *refused,
    ]


def _of_call(number: int, steps: Sequence[bytes]) -> list[bytes]:
    """``steps`` for that call alone; those that get to their end are let through."""
    return [_step(_JUMP_EQUAL, number, no=len(steps) + 1), *steps, _step(_RETURN, _ALLOW)]


def _argument(place: int) -> bytes:
    """Looks at the low half of an argument of the call."""
    return _step(_LOAD, _ARGUMENTS + 8 * place)


def _unless_bits(bits: int) -> list[bytes]:
    """Passes over the next step where the call's first argument has any of them."""
    return [_argument(0), _step(_JUMP_ANY_BIT, bits, yes=1)]


def _unless_one_of(values: Sequence[int], *, over: int = 1) -> list[bytes]:
    """Passes over the next steps, so many, where what is looked at is one of them."""
    return [
        _step(_JUMP_EQUAL, value, yes=len(values) - 1 - place + over)
        for place, value in enumerate(values)
    ]


def _if_one_of(values: Sequence[int], number: int) -> list[bytes]:
    """Refuses, with that error, where what is looked at is one of them."""
    return [step for value in values for step in (_step(_JUMP_EQUAL, value, no=1), _refuse(number))]


def _with_pointer(place: int, steps: Sequence[bytes]) -> list[bytes]:
    """``steps`` where the argument at ``place`` is no null pointer."""
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
    """One instruction. ``yes``, ``no``: how many instructions a jump passes over."""
    return struct.pack("=HBBI", code, yes, no, value)
