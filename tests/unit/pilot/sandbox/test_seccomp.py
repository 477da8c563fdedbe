"""Tests of the answers of seccomp filters to each system call, interpreted as the kernel does."""

import errno
import re
import resource
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pilot.isolation.sandbox.seccomp import Filter, filter_program
from pilot.isolation.sandbox.system_calls import ARCHITECTURES
from tests.unit.pilot.sandbox.bpf import run_filter

_ALLOWED, _ENDED, _REFUSED = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _ENOSYS = _REFUSED | errno.EPERM, _REFUSED | errno.ENOSYS
_EAFNOSUPPORT = _REFUSED | errno.EAFNOSUPPORT
#: No architecture has more calls.
_NUMBERS = range(1000)
#: open_tree_attr of Linux 6.15 and the later calls.
_NEW = 467
_HALF = 1 << 32

_KEYS = "add_key request_key keyctl "
#: Calls that are refused with any arguments.
_NEVER = {
    Filter.JAVASCRIPT: _KEYS
    + "fork vfork execveat ptrace process_vm_readv process_vm_writev kill pidfd_open pidfd_getfd "
    "socket unshare setns mount bpf perf_event_open userfaultfd io_uring_setup memfd_create shmget",
    Filter.TOOL: _KEYS
    + "mount umount2 pivot_root chroot setns open_tree move_mount fsopen fsconfig fsmount fspick "
    "mount_setattr io_uring_setup io_uring_enter io_uring_register bpf perf_event_open "
    "userfaultfd lookup_dcookie fanotify_init syslog kexec_load kexec_file_load init_module "
    "finit_module delete_module iopl ioperm name_to_handle_at open_by_handle_at swapon swapoff "
    "reboot acct quotactl vhangup settimeofday clock_settime clock_adjtime adjtimex pidfd_getfd",
}
#: Calls that only x86-64 has.
_NOT_ON_AARCH64 = {"fork", "vfork", "iopl", "ioperm"}
#: Calls whose arguments decide.
_DEPENDING = {
    Filter.JAVASCRIPT: {"clone"},
    Filter.TOOL: {
        "clone",
        "unshare",
        "ioctl",
        "fcntl",
        "socket",
        "socketpair",
        "setrlimit",
        "prlimit64",
    },
}

machines = pytest.mark.parametrize("machine", ARCHITECTURES)
kinds = pytest.mark.parametrize("kind", Filter)
_words = st.integers(0, _HALF - 1)
_arguments = st.lists(st.integers(0, _HALF * _HALF - 1), min_size=6, max_size=6)

Query = Callable[..., int]


def _make_query(kind: Filter, machine: str) -> Query:
    """Return a function that gives the answer to a call, by name or number, with arguments."""
    program, architecture = filter_program(kind, machine), ARCHITECTURES[machine]
    assert program is not None

    def query(call: str | int, *arguments: int) -> int:
        number = architecture.calls[call] if isinstance(call, str) else call
        return run_filter(program, architecture.audit, number, arguments)

    return query


@machines
@kinds
def test_exactly_the_listed_calls_are_refused(kind: Filter, machine: str) -> None:
    """The test leaves out calls whose arguments decide."""
    calls, query = ARCHITECTURES[machine].calls, _make_query(kind, machine)
    never = set(_NEVER[kind].split()) - (_NOT_ON_AARCH64 if machine == "aarch64" else set())
    expected = dict.fromkeys((calls[name] for name in never), _EPERM)
    expected[calls["clone3"]] = _ENOSYS  # The C library falls back to clone.
    depending = {calls[name] for name in _DEPENDING[kind]}
    expected |= dict.fromkeys(range(_NEW, _NUMBERS.stop), _ENOSYS)
    for number in set(_NUMBERS) - depending:
        assert query(number) == expected.get(number, _ALLOWED), number


@machines
@kinds
@given(data=st.data())
def test_refused_calls_are_refused_with_any_arguments(
    kind: Filter, machine: str, data: st.DataObject
) -> None:
    calls, query = ARCHITECTURES[machine].calls, _make_query(kind, machine)
    name = data.draw(st.sampled_from([n for n in (*_NEVER[kind].split(), "clone3") if n in calls]))
    assert query(name, *data.draw(_arguments)) in {_EPERM, _ENOSYS}


@machines
@kinds
def test_calls_of_another_architecture_end_the_program(kind: Filter, machine: str) -> None:
    """Calls of 32-bit architectures have other numbers."""
    program = filter_program(kind, machine)
    assert program is not None
    i386, arm = 0x40000003, 0x40000028
    own = ARCHITECTURES[machine].audit
    others = {known_architecture.audit for known_architecture in ARCHITECTURES.values()} - {own}
    for architecture in (*others, i386, arm, 0, own ^ 1):
        for number in _NUMBERS:
            assert run_filter(program, architecture, number) == _ENDED


@machines
@kinds
def test_x32_calls_are_refused(kind: Filter, machine: str) -> None:
    query = _make_query(kind, machine)
    for number in (*_NUMBERS, 0x3FFFFFFF, 0x7FFFFFFF, 0xBFFFFFFF):
        assert query(number | 0x40000000) == _EPERM


def test_unknown_architecture_has_no_filter() -> None:
    assert filter_program(Filter.TOOL, "riscv64") is None


def _set_upper_half(value: int, high: int) -> int:
    """Return an argument of which the kernel reads only the lower half."""
    return high * _HALF | value


@machines
@pytest.mark.parametrize(
    "flag",
    {
        "NEWTIME": 0x80, "NEWNS": 0x20000, "NEWCGROUP": 0x2000000, "NEWUTS": 0x4000000,
        "NEWIPC": 0x8000000, "NEWUSER": 0x10000000, "NEWPID": 0x20000000, "NEWNET": 0x40000000,
    }.items(),
    ids=lambda flag: flag[0],
)  # fmt: skip
@given(high=_words, more=_words)
def test_tools_cannot_make_namespaces(
    machine: str, flag: tuple[str, int], high: int, more: int
) -> None:
    name, bit = flag
    query = _make_query(Filter.TOOL, machine)
    assert query("clone", _set_upper_half(bit | more, high)) == _EPERM
    alone = query("unshare", _set_upper_half(bit, high))
    # The process that starts tools renews the IPC namespace. Tools lack the capability to do so.
    assert alone == (_ALLOWED if name == "NEWIPC" else _EPERM)
    assert query("unshare", bit | 0x400) == query("unshare", 0x400) == _EPERM


@machines
@pytest.mark.parametrize("flags", [17, 0x4111, 0x3D0F00, 0x1200011], ids=hex)
def test_tools_start_processes_and_threads(machine: str, flags: int) -> None:
    """The flags are those of fork, vfork, threads of the C library, and fork of the C library."""
    assert _make_query(Filter.TOOL, machine)("clone", flags) == _ALLOWED


@machines
@given(flags=_words, high=_words)
def test_javascript_can_start_threads_only(machine: str, flags: int, high: int) -> None:
    thread = bool(flags & 0x10000)
    answered = _make_query(Filter.JAVASCRIPT, machine)("clone", _set_upper_half(flags, high))
    assert answered == (_ALLOWED if thread else _EPERM)


@machines
@given(descriptor=_words, high=_words)
def test_tools_cannot_inject_input_into_a_terminal(
    machine: str, descriptor: int, high: int
) -> None:
    query = _make_query(Filter.TOOL, machine)
    for typing in (0x5412, 0x541C):  # TIOCSTI, TIOCLINUX
        assert query("ioctl", descriptor, _set_upper_half(typing, high)) == _EPERM
    for harmless in (0x5401, 0x5413, 0x541B):  # TCGETS, TIOCGWINSZ, FIONREAD
        assert query("ioctl", 0x5412, _set_upper_half(harmless, high)) == _ALLOWED


_REQUESTS_REFUSED = {
    "FS_IOC_SETFLAGS": 0x40086602,
    "FS_IOC32_SETFLAGS": 0x40046602,
    "FS_IOC_FSSETXATTR": 0x401C5820,
    "FS_IOC_SETVERSION": 0x40087602,
    "FS_IOC_SET_ENCRYPTION_POLICY": 0x800C6613,
    "FS_IOC_ENABLE_VERITY": 0x40806685,
    "FIFREEZE": 0xC0045877,
    "FITRIM": 0xC0185879,
    "BTRFS_IOC_SNAP_CREATE": 0x50009401,
}
_REQUESTS_NEEDED = {
    "FS_IOC_GETFLAGS": 0x80086601,
    "FS_IOC_FSGETXATTR": 0x801C581F,
    "FS_IOC_FIEMAP": 0xC020660B,
    "FICLONE": 0x40049409,
    "FICLONERANGE": 0x4020940D,
    "FIDEDUPERANGE": 0xC0189436,
    "FIOCLEX": 0x5451,
}


@machines
@given(high=_words)
def test_tools_can_read_but_not_change_attributes_of_the_file_system(
    machine: str, high: int
) -> None:
    query = _make_query(Filter.TOOL, machine)
    for name, request in _REQUESTS_REFUSED.items():
        assert query("ioctl", 3, _set_upper_half(request, high)) == _REFUSED | errno.EOPNOTSUPP, (
            name
        )
    for name, request in _REQUESTS_NEEDED.items():
        assert query("ioctl", 3, _set_upper_half(request, high)) == _ALLOWED, name


@machines
@given(descriptor=_words, high=_words)
def test_tools_cannot_take_file_leases_or_watch_folders(
    machine: str, descriptor: int, high: int
) -> None:
    query = _make_query(Filter.TOOL, machine)
    refused = {1024, 1026, 1040}  # F_SETLEASE, F_NOTIFY, F_SETDELEG
    for command in (*range(64), *range(1024, 1088)):
        expected = _REFUSED | errno.EACCES if command in refused else _ALLOWED
        assert query("fcntl", descriptor, _set_upper_half(command, high), 1) == expected, command


@machines
@pytest.mark.parametrize("call", ["socket", "socketpair"])
@given(family=st.one_of(st.integers(0, 64), _words), high=_words)
def test_tools_can_open_only_sockets_of_the_usual_families(
    machine: str, call: str, family: int, high: int
) -> None:
    usual = {1, 2, 10, 16}  # local, IPv4, IPv6, netlink
    answered = _make_query(Filter.TOOL, machine)(call, _set_upper_half(family, high))
    assert answered == (_ALLOWED if family in usual else _EAFNOSUPPORT)


_PROTECTED_LIMITS = {resource.RLIMIT_FSIZE, resource.RLIMIT_DATA, resource.RLIMIT_NPROC}
_POINTERS = (1, 1 << 32, 0x7FFF_0000_0000, (1 << 64) - 1)


@machines
@pytest.mark.parametrize("limit", range(resource.RLIMIT_RTTIME + 1))
@given(high=_words)
def test_tools_cannot_change_the_resource_limits_of_the_job(
    machine: str, limit: int, high: int
) -> None:
    query = _make_query(Filter.TOOL, machine)
    expected = _EPERM if limit in _PROTECTED_LIMITS else _ALLOWED
    assert query("setrlimit", _set_upper_half(limit, high), 1) == expected
    for pointer in _POINTERS:
        assert (
            query("prlimit64", _set_upper_half(0, high), _set_upper_half(limit, high), pointer)
            == expected
        )
        assert query("prlimit64", 4711, limit, pointer) == _EPERM
    # Limits can be read.
    assert query("prlimit64", 4711, limit, 0, 1) == _ALLOWED


_HEADERS = {
    "x86_64": (
        "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
        "/usr/include/asm/unistd_64.h",
    ),
    "aarch64": ("/usr/include/asm-generic/unistd.h",),
}


@machines
def test_call_numbers_match_the_kernel_headers(machine: str) -> None:
    headers: Sequence[Path] = [path for path in map(Path, _HEADERS[machine]) if path.exists()]
    if not headers:
        pytest.fail("the kernel headers are missing: install linux-libc-dev", pytrace=False)
    defined = dict(re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", headers[0].read_text()))
    call_numbers = ARCHITECTURES[machine].calls
    assert call_numbers == {name: int(defined[name]) for name in call_numbers}
    assert machine == "x86_64" or not _NOT_ON_AARCH64 & defined.keys()


def test_unknown_call_name_raises_a_key_error() -> None:
    with pytest.raises(KeyError, match="numbers of mlockall, swapofff"):
        ARCHITECTURES["x86_64"].numbers(["mlockall", "swapoff", "swapofff"])
