"""Whether a process lives, as the command and the guard of the database ask."""

import os
import subprocess
import sys

from sluice.servicekit.processes import lives


def test_a_zombie_is_dead() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert lives(process.pid)
        assert process.stdin is not None
        process.stdin.close()
        os.waitid(
            os.P_PID, process.pid, os.WEXITED | os.WNOWAIT
        )  # it has ended, and nobody has buried it
        assert not lives(process.pid)
    assert not lives(process.pid)


def test_somebody_elses_process_lives() -> None:
    assert lives(1)
