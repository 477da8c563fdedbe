"""The stack as a system under test: one process for each service, on RabbitMQ and PostgreSQL.

Each connection goes through a proxy.
"""

import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from stack.running_stack import RunningStack, run_stack
from tests.e2e.systems import NO_CONTAINERS, QUICK_LEASES
from tests.waiting import wait_until

OPTIONS = [
    "--replicas",
    "pilot=2,backup=0,backup-assets=0,setup-backup=0",
    "--slots",
    "1",
    "--stop-limit",
    "10",
    "--set",
    ",".join(f"{k}={v}" for k, v in {**QUICK_LEASES, **NO_CONTAINERS}.items()),
]
#: Seconds until killed processes must be ready again.
RESTART_LIMIT = 60.0


@dataclass(frozen=True, slots=True)
class StackSystem:
    """The counterpart of ``LiveSystem`` for the stack.

    Tests share the stack, so that a single test cannot set options.
    """

    stack: RunningStack

    @property
    def url(self) -> str:
        return self.stack.url

    @property
    def dms_url(self) -> str:
        return self.stack.services["dms"]

    def pilots(self) -> list[psutil.Process]:
        """Return the pilots' own processes, not the workers below them."""
        pids = [one["pid"] for one in self.stack.ask(do="processes") if one["service"] == "pilot"]
        return [psutil.Process(pid) for pid in pids if pid is not None and psutil.pid_exists(pid)]

    def kill_a_pilot(self, number: int) -> int:
        """Send SIGKILL to a pilot and return its process id."""
        pilots = self.pilots()
        victim = pilots[number % len(pilots)]
        victim.send_signal(signal.SIGKILL)
        return int(victim.pid)

    def cut_connections(self) -> int:
        """Reset every connection to database and broker at once, and return their number."""
        links = [
            one
            for one in self.stack.ask(do="links")
            if one["link"].endswith((">postgres", ">rabbitmq"))
        ]
        for link in links:
            self.stack.ask(do="fault", link=link["link"], kind="reset", seconds=0.2)
        return sum(int(link["connections"]) for link in links)

    def kill_database(self) -> None:
        """Send SIGKILL to the database server."""
        self.stack.ask(do="kill", process="postgres-1", signal=int(signal.SIGKILL))

    def kill(self) -> None:
        """Send SIGKILL to services and pilots at once."""
        killed = set(self._killable())
        for pid in killed:
            psutil.Process(pid).send_signal(signal.SIGKILL)
        wait_until(
            lambda: not killed & set(self._killable()),
            what="the stack notices the killed processes",
            seconds=RESTART_LIMIT,
        )

    def start_again(self) -> "StackSystem":
        """Wait until all killed processes are ready: the stack restarts them."""
        wait_until(
            lambda: all(one["ready"] for one in self.stack.ask(do="processes")),
            what=lambda: f"all processes are ready: {self.stack.ask(do='processes')}",
            seconds=RESTART_LIMIT,
        )
        return self

    def storage_files(self, kind: str) -> list[Path]:
        """Return all files on disk below a storage."""
        return sorted(
            path for path in (self.stack.folder / "data" / kind).rglob("*") if path.is_file()
        )

    def errors(self) -> str:
        """Return the errors in the logs of the processes."""
        logs = sorted((self.stack.folder / "logs").glob("*.log"))
        lines = [
            f"{log.stem}: {line}"
            for log in logs
            for line in log.read_text(errors="replace").splitlines()
        ]
        return "\n".join(
            line[:400] for line in lines if '"level": "error"' in line and "aiormq" not in line
        )

    def _killable(self) -> list[int]:
        servers = {"postgres", "rabbitmq"}
        return [
            one["pid"]
            for one in self.stack.ask(do="processes")
            if one["service"] not in servers and one["pid"] is not None
        ]


@contextmanager
def run_stack_system() -> Iterator[StackSystem]:
    """Start a stack, which takes about 15 s, and stop it at the end."""
    folder = Path(tempfile.mkdtemp(prefix="sluice-stack-"))
    folder.chmod(0o755)
    try:
        with (
            (folder / "said").open("w") as output,
            run_stack(folder / "stack", OPTIONS, output=output) as stack,
        ):
            yield StackSystem(stack)
        assert list_remaining_processes(folder) == [], "Ctrl-C ends everything"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def list_remaining_processes(folder: Path) -> list[str]:
    """Return the processes that work below a folder."""
    places = [
        (process, process.info["cwd"] or "") for process in psutil.process_iter(["cwd", "cmdline"])
    ]
    return [
        str(process.info["cmdline"]) for process, place in places if place.startswith(str(folder))
    ]
