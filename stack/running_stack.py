"""Start and control of a stack in its own process.

The stack describes itself in ``stack.json`` and is controlled through its socket.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import psutil

from sluice.network.credentials import know_token

ROOT = Path(__file__).resolve().parents[1]
#: The file with the token of the system itself.
ADMIN_TOKEN = "sluice_operator_admin_token"  # noqa: S105 - its name
#: Seconds for a start and a stop, on a machine that has other work, too.
START_LIMIT, STOP_LIMIT = 240.0, 120.0


@dataclass(frozen=True, slots=True)
class RunningStack:
    """A running stack. ``pid`` is the process that runs it."""

    folder: Path
    pid: int

    @property
    def url(self) -> str:
        """Return the address of the operator service."""
        return str(self.state()["url"])

    @property
    def services(self) -> dict[str, str]:
        """Return the base URLs of the services by their short names."""
        return dict(self.state()["services"])

    def state(self) -> dict[str, Any]:
        """Return the content of ``stack.json``.

        Raises:
            OSError: The stack does not run.
        """
        state: dict[str, Any] = json.loads((self.folder / "stack.json").read_text())
        return state

    def ask(self, **request: Any) -> Any:
        """Send a request to the control socket and return the response.

        Raises:
            OSError: The stack does not run, or the response is an error.
        """
        with socket.socket(socket.AF_UNIX) as link:
            link.settimeout(30)
            link.connect(str(self.folder / "control.sock"))
            with link.makefile("rw") as lines:
                lines.write(json.dumps(request) + "\n")
                lines.flush()
                answer = json.loads(lines.readline())
        if isinstance(answer, dict) and "error" in answer:
            raise OSError(answer["error"])
        return answer


@contextmanager
def run_stack(
    folder: Path, options: Sequence[str] = (), *, fresh: bool = False, output: IO[str] | None = None
) -> Iterator[RunningStack]:
    """Yield a ready stack, which is stopped at the end, also if this process is killed.

    Args:
        folder: The folder of the stack.
        options: Further options of ``python -m stack up``.
        fresh: Delete what an earlier stack has left.
        output: Receives the stack's messages. Defaults to the standard error of this process.

    Raises:
        OSError: The stack does not become ready.
    """
    if fresh:
        shutil.rmtree(folder, ignore_errors=True)
    runner = [sys.executable, "-m", "stack", "up", "--folder", str(folder), *options]
    command = ["setpriv", "--pdeathsig=TERM", "--", *runner]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=output,
        start_new_session=True,
        env=os.environ
        | {"PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))},
    )
    try:
        stack = RunningStack(folder, process.pid)
        _await_ready(process, stack)
        services = stack.services
        for url in services.values():
            know_token(url, folder / "secrets" / ADMIN_TOKEN, dms_url=services["dms"])
        yield stack
    finally:
        stop(process)


def stop(process: "subprocess.Popen[bytes]") -> None:
    """Stop a stack as Ctrl-C does, or by force with all of its children if it takes too long.

    Raises:
        OSError: It had to be stopped by force.
    """
    below = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
    process.send_signal(signal.SIGINT)
    try:
        process.wait(STOP_LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        for child in below:
            if child.is_running():
                child.kill()
        raise OSError(f"the stack did not stop within {STOP_LIMIT:.0f} s") from None


def _await_ready(process: "subprocess.Popen[bytes]", stack: RunningStack) -> None:
    end = time.monotonic() + START_LIMIT
    while time.monotonic() < end:
        if process.poll() is not None:
            raise OSError(f"the stack ended with exit status {process.returncode}")
        try:
            state = stack.state()
        except FileNotFoundError:
            state = {}
        if state.get("ready") and state["pid"] == process.pid:
            return
        time.sleep(0.05)
    raise OSError(
        f"the stack was not ready within {START_LIMIT:.0f} s; the log of each process is in"
        f" {stack.folder / 'logs'}"
    )
