"""Numbers of the system calls that filters have rules for, by name.

The numbers never change. See syscalls(2), and unistd.h for each architecture.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

#: Numbers on x86-64 and on AArch64. None means that the call does not exist.
_NUMBERS: dict[str, tuple[int | None, int | None]] = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "adjtimex": (159, 171),
    "bpf": (321, 280),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "clone": (56, 220),
    "clone3": (435, 435),
    "delete_module": (176, 106),
    "execveat": (322, 281),
    "fanotify_init": (300, 262),
    "fcntl": (72, 25),
    "finit_module": (313, 273),
    "fork": (57, None),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "init_module": (175, 105),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioctl": (16, 29),
    "ioperm": (173, None),
    "iopl": (172, None),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "kill": (62, 129),
    "lookup_dcookie": (212, 18),
    "memfd_create": (319, 279),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438),
    "pidfd_open": (434, 434),
    "pivot_root": (155, 41),
    "prlimit64": (302, 261),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "setns": (308, 268),
    "setrlimit": (160, 164),
    "settimeofday": (164, 170),
    "shmget": (29, 194),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
    "vfork": (58, None),
    "vhangup": (153, 58),
}
#: First number without a call known here; all architectures have the same. A program takes an
#: unknown call for an older kernel: Linux 6.13 had none from this number on.
FIRST_UNKNOWN = 467


@dataclass(frozen=True, slots=True)
class Architecture:
    """Calls of an architecture.

    Attributes:
        audit: The kernel's number for it (``AUDIT_ARCH_…``).
        calls: The numbers of calls by name.
    """

    audit: int
    calls: Mapping[str, int]

    def numbers(self, names: Sequence[str]) -> list[int]:
        """Return the numbers of the calls that the architecture has.

        Raises:
            KeyError: A name is not known here.
        """
        unknown = [name for name in names if name not in _NUMBERS]
        if unknown:
            raise KeyError(f"give system_calls.py the numbers of {', '.join(unknown)}")
        return [self.calls[name] for name in names if name in self.calls]


def _select_calls(index: int) -> dict[str, int]:
    call_numbers = {name: numbers[index] for name, numbers in _NUMBERS.items()}
    return {name: number for name, number in call_numbers.items() if number is not None}


#: Architectures by their names in uname(2).
ARCHITECTURES = {
    "x86_64": Architecture(0xC000003E, _select_calls(0)),
    "aarch64": Architecture(0xC00000B7, _select_calls(1)),
}
