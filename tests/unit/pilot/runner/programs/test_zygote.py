"""Tests of the waiting process that becomes a job."""

import os
import subprocess
import sys
from pathlib import Path

#: Starts the module ``shows`` with a limit, and writes its output.
STARTS = """
import os, subprocess
from pilot.isolation.sandbox.process_limits import ProcessLimits
from pilot.runner.programs.program import Program
from pilot.runner.programs.zygote import Zygote

zygote = Zygote()
program = Program(
    arguments=["python", "-m", "shows"], environment=dict(os.environ), folder=".", disk_folder=".",
    stdin=subprocess.DEVNULL, stdout=1, stderr=2,
)
pid = zygote.start(program, ProcessLimits(file_size=12345))
os.waitpid(pid, 0)
"""
#: What the module starts has the limit, too, whatever the starting process does meanwhile.
SHOWS = """
import subprocess
subprocess.run(["sh", "-c", "grep 'Max file size' /proc/self/limits"], check=True)
"""


def test_job_has_its_limits_before_it_runs(tmp_path: Path) -> None:
    (tmp_path / "shows.py").write_text(SHOWS)
    path = os.pathsep.join([str(tmp_path), str(Path.cwd())])
    result = subprocess.run(
        [sys.executable, "-c", STARTS],
        env=os.environ | {"PYTHONPATH": path},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert result.stdout.split()[3:5] == ["12345", "12345"], result.stderr
