"""Resource limits of each process of a program; see setrlimit(2)."""

import resource
from contextlib import suppress
from dataclasses import dataclass, fields, replace

_NUMBERS = {
    "data": resource.RLIMIT_DATA,
    "file_size": resource.RLIMIT_FSIZE,
    "processes": resource.RLIMIT_NPROC,
    "open_files": resource.RLIMIT_NOFILE,
    "core": resource.RLIMIT_CORE,
}


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """Resource limits of each process.

    None keeps the limit of the process that starts the program.

    Attributes:
        data: Memory for data in bytes.
        file_size: Size of each file in bytes.
        processes: Number of processes and threads of the user.
        open_files: Number of open files of the process.
        core: Size of a core dump in bytes.
    """

    data: int | None = None
    file_size: int | None = None
    processes: int | None = None
    open_files: int | None = None
    core: int | None = None

    def __or__(self, other: "ProcessLimits") -> "ProcessLimits":
        """Return the limits of ``other``, completed by these limits."""
        return replace(self, **other._list_set_limits())

    def as_numbers(self) -> list[tuple[int, int]]:
        """Return the kernel's number and the value of each limit that is set."""
        return [(_NUMBERS[name], limit) for name, limit in self._list_set_limits().items()]

    def restrict(self, pid: int = 0) -> None:
        """Set the limits of a process, by default of this one.

        Limits that are beyond the present ones stay as they are.
        """
        for number, limit in self.as_numbers():
            with suppress(ProcessLookupError, ValueError, PermissionError):
                resource.prlimit(pid, number, (limit, limit))

    def _list_set_limits(self) -> dict[str, int]:
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {name: limit for name, limit in values if limit is not None}
