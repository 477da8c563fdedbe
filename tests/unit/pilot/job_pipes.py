"""Synchronize tests with tools that run. Tools in a sandbox reach only the folders of their jobs,
so the named pipes lie there."""

import glob
import os
from pathlib import Path

from tests.unit.pilot.slot_runner import Runner
from tests.waiting import wait_until


def make_waiting_code(name: str) -> str:
    """Return Python code that makes a named pipe in the working directory of the tool, and waits
    there until the test opens it."""
    return f"import os; os.mkfifo({name!r}); open({name!r}).close()\n"


def wait_for(runner: Runner, name: str) -> Path:
    """Wait for the file that a tool makes in the folders of its job, and return its path."""
    pattern = f"{glob.escape(str(runner.run.path))}/slots/**/{name}"
    wait_until(lambda: glob.glob(pattern, recursive=True), what=f"a tool makes {name!r}")
    return Path(glob.glob(pattern, recursive=True)[0])


def release_tool(runner: Runner, name: str) -> None:
    """Release the tool that waits at this pipe, or wait for it first."""
    path = wait_for(runner, name)
    wait_until(lambda: _is_opened(path), what=f"a tool waits at {name!r}")


def _is_opened(pipe: Path) -> bool:
    """Return false while no tool waits at the pipe."""
    try:
        os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        return False
    return True
