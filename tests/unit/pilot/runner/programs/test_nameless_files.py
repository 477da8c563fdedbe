"""Tests of how unlinked files and memory count when the first thread of a process has ended."""

from pathlib import Path

import pytest

from pilot.runner.programs.unlinked_files import unlinked_size
from pilot.runner.programs.usage import proportional_memory, resident_memory
from tests.needs import ROOT_RIGHTS
from tests.unit.pilot.runner.programs.other_programs import start_program

#: Programs that run code, print a line and wait: in the first thread, or in another thread after
#: the first thread has ended.
_DOES = """
import ctypes, os, signal, sys, threading
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
def act():
    file = os.open("large", os.O_RDWR | os.O_CREAT)
    os.write(file, bytes(4 << 20))
    exec(sys.argv[1])
    print(flush=True)
    signal.pause()
"""
_WAYS = {
    "at once": _DOES + "act()",
    "in a thread": _DOES
    + """
def act_later():
    while open("/proc/self/stat").read().rpartition(") ")[2][0] != "Z":
        pass
    act()
threading.Thread(target=act_later).start()
libc.syscall({"x86_64": 60, "aarch64": 93}[os.uname().machine], 0)  # exit, of this thread
""",
}
ways = pytest.mark.parametrize("way", _WAYS.values(), ids=_WAYS)

_UNLINK = "os.unlink('large');"
_MAP = "libc.mmap(None, {}, 1, 1, file, 0); os.close(file)"
#: Code that keeps a file or memory, and how many MiB of it count.
_FILE_KINDS = {
    "a name": ("pass", 0),
    "open": (_UNLINK, 4),
    "open twice": (_UNLINK + "os.dup(file)", 4),
    "mapped": (_UNLINK + _MAP.format(4 << 20), 4),
    "memory": ("os.write(os.memfd_create('memory'), bytes(4 << 20))", 0),
}


@ways
@pytest.mark.parametrize(("file_kind", "mib"), _FILE_KINDS.values(), ids=_FILE_KINDS)
def test_unlinked_file_counts_once_and_only_on_this_disk(
    file_kind: str, mib: float, way: str, tmp_path: Path
) -> None:
    with start_program(way, file_kind, folder=tmp_path) as pid:
        assert unlinked_size(pid, str(tmp_path)) == pytest.approx(mib, abs=0.1)


@ways
@pytest.mark.needs(ROOT_RIGHTS)
def test_unlinked_file_that_is_partly_mapped_counts_in_full(way: str, tmp_path: Path) -> None:
    with start_program(way, _UNLINK + _MAP.format(4096), folder=tmp_path) as pid:
        assert unlinked_size(pid, str(tmp_path)) == pytest.approx(4, abs=0.1)


@ways
def test_memory_counts_after_the_first_thread_has_ended(way: str, tmp_path: Path) -> None:
    with start_program(way, "global kept; kept = b'x' * (64 << 20)", folder=tmp_path) as pid:
        assert resident_memory(pid) > 64
        assert proportional_memory(pid) > 64
