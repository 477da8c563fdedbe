"""A whole embedded system for a test: the real process, database, transport and pilots."""

import asyncio
import os
import shutil
import signal
import tempfile
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar
from urllib.parse import quote

import asyncpg
import psutil

from sluice.embedded.home import Home, RunningSystem
from sluice.embedded.process import start_detached, stop_system

#: Seconds of a lease: a lost pilot is noticed soon, so that tests need not wait for a minute.
LEASE = 6.0
QUICK_LEASES = {"SLUICE_WMS_LEASE": f"{LEASE:.0f}", "SLUICE_WMS_HEARTBEAT": "1"}
#: For tests without containers, as a pilot spends a second of CPU time to probe each engine.
NO_CONTAINERS = {"SLUICE_PILOT_CONTAINERS": "[]"}


Result = TypeVar("Result")


class System(Protocol):
    """The interface that scenarios need of a system; ``LiveSystem`` explains the methods."""

    @property
    def url(self) -> str: ...
    @property
    def dms_url(self) -> str: ...
    def pilots(self) -> list[psutil.Process]: ...
    def kill_a_pilot(self, number: int) -> int: ...
    def cut_connections(self) -> int: ...
    def kill_database(self) -> None: ...
    def kill(self) -> None: ...
    def start_again(self) -> "System": ...
    def errors(self) -> str: ...
    def storage_files(self, kind: str) -> list[Path]: ...


@dataclass(slots=True)
class LiveSystem:
    home: Path
    running: RunningSystem
    options: Sequence[str]
    environment: Mapping[str, str]

    @property
    def url(self) -> str:
        return self.running.url

    @property
    def dms_url(self) -> str:
        return f"{self.url}/services/dms"

    def pilots(self) -> list[psutil.Process]:
        """Return the pilots' own processes, not the workers below them."""
        children = psutil.Process(self.running.pid).children()
        return [child for child in children if _is_pilot(child)]

    def kill_a_pilot(self, number: int) -> int:
        """Send SIGKILL to a pilot and return its process id."""
        pilots = self.pilots()
        victim = pilots[number % len(pilots)]
        victim.send_signal(signal.SIGKILL)
        return int(victim.pid)

    def cut_connections(self) -> int:
        """End every connection to the database at once and return their number.

        The method can be called from inside an event loop.
        """
        return _run_in_thread(self._cut_connections())

    async def _cut_connections(self) -> int:
        connection = await asyncpg.connect(self.database_url("postgres"))
        try:
            statement = (
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <>"
                " pg_backend_pid()"
            )
            return int(await connection.fetchval(statement))
        finally:
            await connection.close()

    def kill_database(self) -> None:
        """Send SIGKILL to the database server."""
        os.kill(
            int((self.home / "database" / "postmaster.pid").read_text().splitlines()[0]),
            signal.SIGKILL,
        )

    def database_url(self, database: str) -> str:
        return f"postgresql://postgres:@/{database}?host={quote(self._socket_folder())}"

    def _socket_folder(self) -> str:
        return (self.home / "database" / "postmaster.pid").read_text().splitlines()[4]

    def kill(self) -> None:
        """Send SIGKILL to services and pilots at once, in the middle of their transactions."""
        for process in [psutil.Process(self.running.pid), *self.pilots()]:
            process.send_signal(signal.SIGKILL)
        os.waitpid(self.running.pid, 0)

    def start_again(self) -> "LiveSystem":
        """Start the system again in the same folder; it must not be running."""
        self.running = _start(self.home, self.options, self.environment)
        return self

    def storage_files(self, kind: str) -> list[Path]:
        """Return all files on disk below a storage."""
        return sorted(path for path in (self.home / "storages" / kind).rglob("*") if path.is_file())

    def errors(self) -> str:
        """Return the errors in the log, or its last lines."""
        log = (self.home / "logs" / "system.log").read_text(errors="replace").splitlines()
        return "\n".join(
            line for line in log if '"level": "error"' in line or "Traceback" in line
        ) or "\n".join(log[-5:])


@contextmanager
def open_home_folder() -> Iterator[Path]:
    """Yield a folder for a system, and remove it at the end.

    It is not below the folder of pytest: as root, the database runs as another user, who needs
    access.
    """
    folder = Path(tempfile.mkdtemp(prefix="sluice-e2e-"))
    folder.chmod(0o755)
    try:
        yield folder / "home"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def run_live_system(
    *options: str, environment: Mapping[str, str] | None = None
) -> Iterator[LiveSystem]:
    """Start a system and stop it at the end; print the errors of its log if the test fails."""
    with (
        open_home_folder() as home,
        _run_system(home, *options, environment=environment or {}) as system,
    ):
        yield system


@contextmanager
def _run_system(home: Path, *options: str, environment: Mapping[str, str]) -> Iterator[LiveSystem]:
    system = LiveSystem(home, _start(home, options, environment), options, environment)
    try:
        _run_in_thread(_disable_durability(system.database_url("postgres")))
        yield system
    except BaseException:
        print(system.errors())
        raise
    finally:
        stop_system(system.running)


def _run_in_thread(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine in a thread of its own, without a running event loop."""
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(asyncio.run, work).result()


async def _disable_durability(url: str) -> None:
    """Turn off what protects the database from a crash of the machine only."""
    connection = await asyncpg.connect(url)
    try:
        for statement in (
            "ALTER SYSTEM SET fsync = off",
            "ALTER SYSTEM SET full_page_writes = off",
            "SELECT pg_reload_conf()",
        ):
            await connection.execute(statement)
    finally:
        await connection.close()


def _start(home: Path, options: Sequence[str], environment: Mapping[str, str]) -> RunningSystem:
    before = os.environ.copy()
    os.environ.update(QUICK_LEASES | NO_CONTAINERS | before | dict(environment))
    try:
        return start_detached(Home(home), ["--port", "0", *options], ends_with_us=True)
    finally:
        os.environ.clear()
        os.environ.update(before)


def _is_pilot(process: psutil.Process) -> bool:
    try:
        return "pilot" in process.cmdline()
    except psutil.Error:
        return False
