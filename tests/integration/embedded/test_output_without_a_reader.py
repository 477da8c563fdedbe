"""A process goes on when nobody reads its output."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import wait_until

#: Writes 3 MB, makes a file, and ends when its input ends.
WRITER = """
import sys
from pathlib import Path
from sluice.embedded.unblocked_output import unblocked_output
with unblocked_output():
    for number in range(50_000):
        print("a line that nobody reads, of sixty characters with number", number)
        print("an error", file=sys.stderr)
    Path(sys.argv[1]).touch()
    sys.stdin.read()
"""


@pytest.mark.parametrize("terminal", [False, True], ids=["pipe", "terminal"])
def test_process_goes_on_while_nobody_reads_its_output(tmp_path: Path, terminal: bool) -> None:
    read, write = pty.openpty() if terminal else os.pipe()
    goes_on = tmp_path / "goes-on"
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(goes_on)],
        stdin=subprocess.PIPE,
        stdout=write,
        stderr=write,
        start_new_session=True,
    ) as process:
        os.close(write)
        try:
            wait_until(goes_on.exists, what="it goes on")
        except AssertionError:
            process.kill()
            raise
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(30) == 0
    os.close(read)


def test_buffered_output_comes_unchanged_and_dropped_bytes_are_counted(tmp_path: Path) -> None:
    goes_on = tmp_path / "goes-on"
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(goes_on)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        wait_until(goes_on.exists, what="it goes on")
        stdout, _ = process.communicate("")
    lines = stdout.splitlines()
    assert lines[0] == "a line that nobody reads, of sixty characters with number 0"
    assert "bytes of output were dropped: they were not read" in stdout
    assert process.returncode == 0
