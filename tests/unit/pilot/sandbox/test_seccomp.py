"""What filters answer to each system call, by running them as the kernel does."""

import errno
import re
import resource
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pilot.sandbox.seccomp import Filter, filter_program
from pilot.sandbox.system_calls import ARCHITECTURES
from tests.unit.pilot.sandbox.bpf import answer

_ALLOWED, _ENDED, _REFUSED = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _ENOSYS = _REFUSED | errno.EPERM, _REFUSED | errno.ENOSYS
_EAFNOSUPPORT = _REFUSED | errno.EAFNOSUPPORT
#: More than any architecture has.
_NUMBERS = range(1000)
#: open_tree_attr of Linux 6.15, and whatever comes after it.
_NEW = 467
_HALF = 1 << 32

_KEYS = "add_key request_key keyctl "
#: Whatever the arguments are.
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
#: Those of x86-64 alone.
_NOT_ON_AARCH64 = {"fork", "vfork", "iopl", "ioperm"}
#: Where the arguments decide.
_DEPENDING = {
    Filter.JAVASCRIPT: {"clone"},
    Filter.TOOL: {
        *("clone", "unshare", "ioctl", "fcntl"),
        *("socket", "socketpair", "setrlimit", "prlimit64"),
    },
}

machines = pytest.mark.parametrize("machine", ARCHITECTURES)
kinds = pytest.mark.parametrize("kind", Filter)
_words = st.integers(0, _HALF - 1)
_arguments = st.lists(st.integers(0, _HALF * _HALF - 1), min_size=6, max_size=6)

Asked = Callable[..., int]


def _asking(kind: Filter, machine: str) -> Asked:
    """Answers to a call by its name or number, with arguments."""
    program, architecture = filter_program(kind, machine), ARCHITECTURES[machine]
    assert program is not None

    def ask(call: str | int, *arguments: int) -> int:
        number = architecture.calls[call] if isinstance(call, str) else call
        return answer(program, architecture.audit, number, arguments)

    return ask


@machines
@kinds
def test_each_call_is_refused_that_is_named_here_and_no_other(kind: Filter, machine: str) -> None:
    """Calls whose arguments decide are not looked at."""
    calls, ask = ARCHITECTURES[machine].calls, _asking(kind, machine)
    never = set(_NEVER[kind].split()) - (_NOT_ON_AARCH64 if machine == "aarch64" else set())
    expected = dict.fromkeys((calls[name] for name in never), _EPERM)
    expected[calls["clone3"]] = _ENOSYS  # the C library falls back to clone
    depending = {calls[name] for name in _DEPENDING[kind]}
    expected |= dict.fromkeys(range(_NEW, _NUMBERS.stop), _ENOSYS)
    for number in set(_NUMBERS) - depending:
        assert ask(number) == expected.get(number, _ALLOWED), number


@machines
@kinds
@given(data=st.data())
def test_no_arguments_make_a_difference_to_it(
    kind: Filter, machine: str, data: st.DataObject
) -> None:
    calls, ask = ARCHITECTURES[machine].calls, _asking(kind, machine)
    name = data.draw(st.sampled_from([n for n in (*_NEVER[kind].split(), "clone3") if n in calls]))
    assert ask(name, *data.draw(_arguments)) in {_EPERM, _ENOSYS}


@machines
@kinds
def test_a_program_for_another_processor_is_ended(kind: Filter, machine: str) -> None:
    """Also one of 32 bits, whose numbers mean other calls."""
    program = filter_program(kind, machine)
    assert program is not None
    i386, arm = 0x40000003, 0x40000028
    own = ARCHITECTURES[machine].audit
    others = {known.audit for known in ARCHITECTURES.values()} - {own}
    for architecture in (*others, i386, arm, 0, own ^ 1):
        for number in _NUMBERS:
            assert answer(program, architecture, number) == _ENDED


@machines
@kinds
def test_a_call_with_pointers_of_32_bits_is_refused(kind: Filter, machine: str) -> None:
    ask = _asking(kind, machine)
    for number in (*_NUMBERS, 0x3FFFFFFF, 0x7FFFFFFF, 0xBFFFFFFF):
        assert ask(number | 0x40000000) == _EPERM


def test_an_unknown_processor_has_none() -> None:
    assert filter_program(Filter.TOOL, "riscv64") is None


def _noise(value: int, high: int) -> int:
    """An argument of which the kernel looks at the lower half alone."""
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
def test_no_tool_has_a_new_namespace(
    machine: str, flag: tuple[str, int], high: int, more: int
) -> None:
    name, bit = flag
    ask = _asking(Filter.TOOL, machine)
    assert ask("clone", _noise(bit | more, high)) == _EPERM
    alone = ask("unshare", _noise(bit, high))
    # What starts tools renews this, and has the right to it; they have not.
    assert alone == (_ALLOWED if name == "NEWIPC" else _EPERM)
    assert ask("unshare", bit | 0x400) == ask("unshare", 0x400) == _EPERM


@machines
@pytest.mark.parametrize("flags", [17, 0x4111, 0x3D0F00, 0x1200011], ids=hex)
def test_tools_start_processes_and_threads(machine: str, flags: int) -> None:
    """As fork, vfork, threads of the C library, and fork of it do."""
    assert _asking(Filter.TOOL, machine)("clone", flags) == _ALLOWED


@machines
@given(flags=_words, high=_words)
def test_javascript_starts_threads_alone(machine: str, flags: int, high: int) -> None:
    thread = bool(flags & 0x10000)
    answered = _asking(Filter.JAVASCRIPT, machine)("clone", _noise(flags, high))
    assert answered == (_ALLOWED if thread else _EPERM)


@machines
@given(descriptor=_words, high=_words)
def test_nobody_types_on_a_terminal_for_its_user(machine: str, descriptor: int, high: int) -> None:
    ask = _asking(Filter.TOOL, machine)
    for typing in (0x5412, 0x541C):  # TIOCSTI, TIOCLINUX
        assert ask("ioctl", descriptor, _noise(typing, high)) == _EPERM
    for harmless in (0x5401, 0x5413, 0x541B):  # TCGETS, TIOCGWINSZ, FIONREAD
        assert ask("ioctl", 0x5412, _noise(harmless, high)) == _ALLOWED


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
def test_files_keep_what_their_file_system_notes_of_them(machine: str, high: int) -> None:
    ask = _asking(Filter.TOOL, machine)
    for name, request in _REQUESTS_REFUSED.items():
        assert ask("ioctl", 3, _noise(request, high)) == _REFUSED | errno.EOPNOTSUPP, name
    for name, request in _REQUESTS_NEEDED.items():
        assert ask("ioctl", 3, _noise(request, high)) == _ALLOWED, name


@machines
@given(descriptor=_words, high=_words)
def test_no_file_is_kept_from_others(machine: str, descriptor: int, high: int) -> None:
    """By leases and delegations; nor does a folder tell what they do in it."""
    ask = _asking(Filter.TOOL, machine)
    refused = {1024, 1026, 1040}  # F_SETLEASE, F_NOTIFY, F_SETDELEG
    for command in (*range(64), *range(1024, 1088)):
        expected = _REFUSED | errno.EACCES if command in refused else _ALLOWED
        assert ask("fcntl", descriptor, _noise(command, high), 1) == expected, command


@machines
@pytest.mark.parametrize("call", ["socket", "socketpair"])
@given(family=st.one_of(st.integers(0, 64), _words), high=_words)
def test_sockets_are_of_the_usual_kinds(machine: str, call: str, family: int, high: int) -> None:
    usual = {1, 2, 10, 16}  # local, IPv4, IPv6, netlink
    answered = _asking(Filter.TOOL, machine)(call, _noise(family, high))
    assert answered == (_ALLOWED if family in usual else _EAFNOSUPPORT)


_KEPT = {resource.RLIMIT_FSIZE, resource.RLIMIT_DATA, resource.RLIMIT_NPROC}
_POINTERS = (1, 1 << 32, 0x7FFF_0000_0000, (1 << 64) - 1)


@machines
@pytest.mark.parametrize("limit", range(resource.RLIMIT_RTTIME + 1))
@given(high=_words)
def test_limits_that_are_the_jobs_stay(machine: str, limit: int, high: int) -> None:
    ask = _asking(Filter.TOOL, machine)
    expected = _EPERM if limit in _KEPT else _ALLOWED
    assert ask("setrlimit", _noise(limit, high), 1) == expected
    for pointer in _POINTERS:
        assert ask("prlimit64", _noise(0, high), _noise(limit, high), pointer) == expected
        assert ask("prlimit64", 4711, limit, pointer) == _EPERM
    # They can be looked at.
    assert ask("prlimit64", 4711, limit, 0, 1) == _ALLOWED


_HEADERS = {
    "x86_64": (
        "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
        "/usr/include/asm/unistd_64.h",
    ),
    "aarch64": ("/usr/include/asm-generic/unistd.h",),
}


@machines
def test_numbers_are_those_of_the_kernels_headers(machine: str) -> None:
    headers: Sequence[Path] = [path for path in map(Path, _HEADERS[machine]) if path.exists()]
    if not headers:
        pytest.fail("the kernel's headers are not here: install linux-libc-dev", pytrace=False)
    defined = dict(re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", headers[0].read_text()))
    known = ARCHITECTURES[machine].calls
    assert known == {name: int(defined[name]) for name in known}
    assert machine == "x86_64" or not _NOT_ON_AARCH64 & defined.keys()


def test_no_call_is_refused_by_a_name_that_nothing_knows() -> None:
    with pytest.raises(KeyError, match="numbers of mlockall, swapofff"):
        ARCHITECTURES["x86_64"].numbers(["mlockall", "swapoff", "swapofff"])
