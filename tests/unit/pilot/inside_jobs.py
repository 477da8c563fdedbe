"""What tools tell a test while they run, and what they wait for: in their jobs, because those in a
sandbox reach nothing else."""

import glob
import os
from pathlib import Path

from tests.unit.pilot.slot_runner import Runner
from tests.waiting import wait_until


def waiting_at(name: str) -> str:
    """Python code of a tool that makes a named pipe where it runs, and waits there until the test
    lets it through."""
    return f"import os; os.mkfifo({name!r}); open({name!r}).close()\n"


def wait_for(runner: Runner, name: str) -> Path:
    """The file that a tool makes in its job's folders, as soon as it is there."""
    pattern = f"{glob.escape(str(runner.run.path))}/slots/**/{name}"
    wait_until(lambda: glob.glob(pattern, recursive=True), what=f"a tool makes {name!r}")
    return Path(glob.glob(pattern, recursive=True)[0])


def let_through(runner: Runner, name: str) -> None:
    """The tool that waits at this pipe, or will do so."""
    path = wait_for(runner, name)
    wait_until(lambda: _is_opened(path), what=f"a tool waits at {name!r}")


def _is_opened(pipe: Path) -> bool:
    """False: nobody waits there yet."""
    try:
        os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        return False
    return True
