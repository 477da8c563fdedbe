"""The limits that the kernel keeps for each process of a program; see setrlimit(2)."""

import resource
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
    """None: as it is for who starts the program. ``data``, ``file_size``, ``core``: bytes, of its
    memory for data, of each file that it writes, and of what the kernel keeps of one that crashed.
    ``processes``: and threads of its user. ``open_files``: its own."""

    data: int | None = None
    file_size: int | None = None
    processes: int | None = None
    open_files: int | None = None
    core: int | None = None

    def __or__(self, other: "ProcessLimits") -> "ProcessLimits":
        """Those of ``other``, and these where it has none."""
        return replace(self, **other._known())

    def as_numbers(self) -> list[tuple[int, int]]:
        """The kernel's number of each that there is, and the most."""
        return [(_NUMBERS[name], most) for name, most in self._known().items()]

    def _known(self) -> dict[str, int]:
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {name: most for name, most in values if most is not None}
