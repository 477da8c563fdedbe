"""Tests of how the memory of a tool with several processes is measured."""

import os
from pathlib import Path

import pytest

from pilot.runner.programs.memory import OutOfMemory, ProcessMemory
from pilot.runner.programs.running import Child
from pilot.runner.programs.usage import proportional_memory, resident_memory
from tests.unit.pilot.runner.programs.other_programs import start_program

#: MiB of each of the four processes.
_EACH = 64
#: Starts three processes that take their memory and wait until the first process is gone.
_FAMILY = f"""
import os, signal
def take():
    global kept
    kept = b"x" * ({_EACH} << 20)
BEFORE
ready, ours = os.pipe()
waiting, end = os.pipe()
for _ in range(3):
    if os.fork() == 0:
        os.close(end)
        AFTER
        os.write(ours, b"x")
        os.read(waiting, 1)
        os._exit(0)
for _ in range(3):
    os.read(ready, 1)
print(flush=True)
signal.pause()
"""
_SHARED = _FAMILY.replace("BEFORE", "take()").replace("AFTER", "pass")
_PRIVATE = _FAMILY.replace("BEFORE", "take()").replace("AFTER", "take()")
#: Cannot be inspected by a process without capabilities.
_CLOSED = f"""
import ctypes, signal
kept = b"x" * ({_EACH} << 20)
ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE
print(flush=True)
signal.pause()
"""


def test_shared_pages_count_once(tmp_path: Path) -> None:
    with start_program(_SHARED, folder=tmp_path) as pid:
        assert resident_memory(pid) > 4 * _EACH
        assert _EACH < proportional_memory(pid) < 2 * _EACH


def test_private_pages_of_each_process_count(tmp_path: Path) -> None:
    with start_program(_PRIVATE, folder=tmp_path) as pid:
        assert proportional_memory(pid) > 4 * _EACH


def test_process_that_cannot_be_inspected_counts_with_its_resident_memory(tmp_path: Path) -> None:
    with start_program(_CLOSED, folder=tmp_path) as pid:
        assert proportional_memory(pid) > _EACH


@pytest.mark.parametrize(
    ("code", "over"),
    [(_SHARED, None), (_PRIVATE, OutOfMemory.LIMIT)],
    ids=["shared", "private"],
)
def test_tool_is_ended_for_the_memory_that_its_processes_use_together(
    code: str, over: OutOfMemory | None, tmp_path: Path
) -> None:
    memory = ProcessMemory()
    memory.open(mib=3 * _EACH, inputs=0)
    with start_program(code, folder=tmp_path) as pid:
        running = Child(pid, frozenset)
        os.close(running.descriptor)
        memory.set_running(running)
        assert memory.find_excess(memory.used()) is over
