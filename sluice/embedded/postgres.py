"""The embedded PostgreSQL server: from a wheel, in the home folder, on a Unix socket."""

import asyncio
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import asyncpg
import structlog

from sluice.embedded.postgres_programs import (
    VERSION,
    extract_errors,
    fill_data_folder,
    forget_libpq_variables,
    make_data_folder,
    postgres_command,
    server_environment,
    server_settings,
)
from sluice.embedded.postmaster import forget_dead_postmaster, is_ready
from sluice.servicekit.database import CREATE_OPTIONS, LOST_CONNECTION
from sluice.servicekit.running.lifecycle import cancel_and_wait
from sluice.servicekit.running.processes import until_ended
from sluice.text.os_errors import reason_of

log = structlog.get_logger(__name__)

#: Changes of the defaults: connections for the pools of all services, and fewer checkpoints under
#: load. Commits stay durable.
SETTINGS = """
# Written by Sluice.
max_connections = 200
shared_buffers = 256MB
"""

#: Seconds for a start, which may replay the log, between two attempts, and for a stop.
START_LIMIT, RETRY_PAUSE, STOP_LIMIT = 300.0, 1.0, 30.0
#: The maximum number of bytes of a socket's path.
_MAX_SOCKET_PATH = 107


class EmbeddedPostgres:
    """Component that runs the server.

    The first start takes about 2 s, later ones 0.2 s. A server that dies is restarted without loss
    of committed data. It ends with this process, also if the process is killed. No other process
    may start a server in ``folder``. ``before_start`` is called before each start.
    """

    def __init__(
        self,
        folder: Path,
        databases: Sequence[str],
        *,
        before_start: Callable[[], None] = lambda: None,
    ) -> None:
        self._folder = folder
        self._before_start = before_start
        self._databases = databases
        self._sockets = folder
        self._server: subprocess.Popen[bytes] | None = None
        self._guard: asyncio.Task[None] | None = None
        self._filling: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start the server and create missing databases.

        Raises:
            OSError: The server does not start.
        """
        forget_libpq_variables()
        await asyncio.to_thread(self._prepare)
        await self._start_server()
        await self._create_databases()
        self._guard = asyncio.create_task(self._keep_running(), name="postgres guard")

    async def stop(self) -> None:
        """Stop the server."""
        filling, self._filling = self._filling, None
        await cancel_and_wait(filling)
        guard, self._guard = self._guard, None
        await cancel_and_wait(guard)
        await self._end_server()
        if self._sockets != self._folder:
            shutil.rmtree(self._sockets, ignore_errors=True)
            self._sockets = self._folder

    def url(self, database: str) -> str:
        """Return the ``postgresql://…`` URL of a database."""
        return f"postgresql://postgres:@/{database}?host={quote(str(self._sockets))}"

    async def _keep_running(self) -> None:
        while True:
            if self._server is not None and self._server.poll() is None:
                await until_ended(self._server.pid)
                self._server.wait()
                log.error("postgres.died", folder=str(self._folder))
            try:
                await self._start_server()
                log.info("postgres.started_again")
            # Process boundary: the start is retried. Processes of a killed server may take time to
            # end.
            except Exception as error:
                log.error("postgres.not_started", reason=reason_of(error))
                await asyncio.sleep(RETRY_PAUSE)

    def _prepare(self) -> None:
        """Make the database cluster if it is missing.

        Raises:
            OSError: It cannot be made, or is of another version of PostgreSQL.
        """
        version = self._folder / "PG_VERSION"
        if not version.exists():
            _create_cluster(self._folder)
        elif (found_version := version.read_text().strip()) != VERSION:
            raise OSError(
                f"{self._folder} is a database of PostgreSQL {found_version}, and this release of"
                f" Sluice runs PostgreSQL {VERSION}: use the release that made it"
            )
        make_data_folder(self._folder)
        if len(os.fsencode(self._folder / ".s.PGSQL.5432")) > _MAX_SOCKET_PATH:
            self._sockets = self._short_folder()

    def _short_folder(self) -> Path:
        """Make a private folder for the socket, which gives full access to the databases."""
        folder = Path(tempfile.mkdtemp(prefix="sluice-pg-"))
        if os.geteuid() == 0:
            owner = self._folder.stat()
            os.chown(folder, owner.st_uid, owner.st_gid)
        return folder

    async def _start_server(self) -> None:
        """Start the server and return when it accepts connections.

        Raises:
            OSError: The server does not start.
        """
        self._before_start()
        await asyncio.to_thread(forget_dead_postmaster, self._folder)
        log_path = self._folder / "log"
        before = log_path.stat().st_size if log_path.exists() else 0
        with log_path.open("ab") as output:
            # The call returns at once, and the server ends with the thread that starts it.
            self._server = server = subprocess.Popen(  # noqa: ASYNC220
                self._command(),
                cwd=self._folder,
                env=server_environment(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        try:
            async with asyncio.timeout(START_LIMIT):
                while not is_ready(self._folder, server.pid):
                    if server.poll() is not None:
                        with log_path.open("rb") as file:
                            file.seek(before)
                            reason = extract_errors(file.read().decode(errors="replace"))
                        raise OSError(f"PostgreSQL does not start: {reason} (its log: {log_path})")
                    await asyncio.sleep(0.01)
        except TimeoutError:
            raise OSError(
                f"PostgreSQL did not start within {START_LIMIT:.0f} s; its log is in {log_path}"
            ) from None

    def _command(self) -> list[str]:
        settings = [word for setting in server_settings(self._folder) for word in ("-c", setting)]
        place = ["-D", str(self._folder), "-h", "", "-k", str(self._sockets), "-p", "5432"]
        return postgres_command("postgres", self._folder, *place, *settings, end_with_parent=True)

    async def _end_server(self) -> None:
        """Stop the server: first in its fast mode, which disconnects clients, then by force.

        Nothing is lost. After a forced stop, the next start takes longer.
        """
        server, self._server = self._server, None
        if server is None:
            return
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
            server.send_signal(number)
            with suppress(subprocess.TimeoutExpired):
                await asyncio.to_thread(server.wait, STOP_LIMIT)
                return
            log.error("postgres.not_stopped", pid=server.pid, signal=number.name)

    async def _create_databases(self) -> None:
        connection = await asyncpg.connect(self.url("postgres"))
        try:
            existing = {
                row["datname"] for row in await connection.fetch("SELECT datname FROM pg_database")
            }
            missing = [name for name in self._databases if name not in existing]
            for name in missing:
                await connection.execute(f'CREATE DATABASE "{name}" {CREATE_OPTIONS}')
            if missing:
                self._filling = asyncio.create_task(self._fill_holes(), name="postgres holes")
        finally:
            await connection.close()

    async def _fill_holes(self) -> None:
        """Write new databases to the disk, because their files have holes until then.

        A file system that is full by then would keep the server from starting again.
        """
        with suppress(*LOST_CONNECTION):
            connection = await asyncpg.connect(self.url("postgres"))
            try:
                await connection.execute("CHECKPOINT")
            finally:
                connection.terminate()


def _create_cluster(folder: Path) -> None:
    """Make the database cluster completely or not at all.

    Raises:
        OSError: It cannot be made.
    """
    fresh = folder.with_name(f"{folder.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fill_data_folder(fresh)
    with (fresh / "postgresql.conf").open("a") as configuration:
        configuration.write(SETTINGS)
    if folder.exists():
        folder.rmdir()
    fresh.rename(folder)
