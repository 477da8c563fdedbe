"""The filter on system calls that JavaScript runs under: it starts no other process, and leaves the
kernel's rare corners alone.

A classic BPF program, as ``bwrap --seccomp`` takes it. Threads of the same process stay possible:
node.js needs them.
"""

import errno
import platform
import struct
from dataclasses import dataclass

_LOAD, _JUMP_EQUAL, _JUMP_GREATER_EQUAL, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
#: Places in the kernel's description of a call: its number, the architecture, the low half of its
#: first argument.
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
_CLONE_THREAD = 0x00010000
#: Calls of x86-64's 32-bit pointers have this bit.
_X32 = 0x40000000


@dataclass(frozen=True, slots=True)
class _Machine:
    """``audit``: the kernel's number of the architecture. Numbers of calls: ``clone``, and those
    that are refused."""

    audit: int
    clone: int
    refused: tuple[int, ...]


#: Alike everywhere.
_CLONE3 = 435
_REFUSED_EVERYWHERE = (434, 438, 425)  # pidfd_open, pidfd_getfd, io_uring_setup

#: Refused: fork, vfork, execveat, ptrace, process_vm_readv and _writev, kill, socket, unshare,
#: setns, mount, keys, bpf, perf_event_open, userfaultfd, memfd_create, shmget.
_MACHINES = {
    "x86_64": _Machine(
        0xC000003E,
        56,
        (57, 58, 322, 101, 310, 311, 62, 41, 272, 308, 165, 248, 249, 250, 321, 298, 323, 319, 29),
    ),
    "aarch64": _Machine(
        0xC00000B7,
        220,
        (281, 117, 270, 271, 129, 198, 97, 268, 40, 217, 218, 219, 280, 241, 282, 279, 194),
    ),
}


def filter_program(machine: str | None = None) -> bytes | None:
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
        _step(_RETURN, _ERRNO | errno.EPERM),
        # The C library falls back to clone, whose flags can be looked at.
        _step(_JUMP_EQUAL, _CLONE3, no=1),
        _step(_RETURN, _ERRNO | errno.ENOSYS),
    ]
    for number in (*known.refused, *_REFUSED_EVERYWHERE):
        program += [_step(_JUMP_EQUAL, number, no=1), _step(_RETURN, _ERRNO | errno.EPERM)]
    program += [
        _step(_JUMP_EQUAL, known.clone, no=3),
        _step(_LOAD, _FIRST_ARGUMENT),
        _step(_JUMP_ANY_BIT, _CLONE_THREAD, yes=1),
        _step(_RETURN, _ERRNO | errno.EPERM),
        _step(_RETURN, _ALLOW),
    ]
    return b"".join(program)


def _step(code: int, value: int, *, yes: int = 0, no: int = 0) -> bytes:
    """One instruction. ``yes``, ``no``: how many instructions a jump passes over."""
    return struct.pack("=HBBI", code, yes, no, value)
