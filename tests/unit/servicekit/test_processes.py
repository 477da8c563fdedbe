"""Tests of whether a process is alive, as the command line and the guard of the database check
it."""

import os
import subprocess
import sys

from sluice.servicekit.running.processes import lives


def test_zombie_is_not_alive() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert lives(process.pid)
        assert process.stdin is not None
        process.stdin.close()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # The process is a zombie now.
        assert not lives(process.pid)
    assert not lives(process.pid)


def test_process_of_another_user_is_alive() -> None:
    assert lives(1)
