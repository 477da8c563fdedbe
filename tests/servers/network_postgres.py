"""A PostgreSQL server as in production: over TCP, and with passwords."""

import asyncio
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import asyncpg

from sluice.embedded.postgres_programs import (
    fill_data_folder,
    postgres_command,
    server_environment,
)
from stack.ports import free_ports
from tests.servers.postgres import SETTINGS
from tests.waiting import eventually

ADMINISTRATOR = "administrator's password"
RULES = """
local all all trust
host all all 127.0.0.1/32 scram-sha-256
host replication all 127.0.0.1/32 scram-sha-256
"""


@dataclass(slots=True)
class NetworkPostgres:
    """A server with a filled folder, which a test starts and stops."""

    folder: Path
    port: int
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def admin_url(self) -> str:
        return self.url("postgres", ADMINISTRATOR.replace(" ", "%20"), "postgres")

    def url(self, user: str, password: str, database: str) -> str:
        return f"postgresql://{user}:{password}@127.0.0.1:{self.port}/{database}"

    async def start(self) -> None:
        with (self.folder / "output").open("ab") as output:
            self.process = subprocess.Popen(  # noqa: ASYNC220 - it returns at once
                postgres_command("postgres", self.folder / "data", "-D", str(self.folder / "data")),
                stdout=output,
                stderr=output,
                env=server_environment(),
                cwd=self.folder,
            )
        await eventually(self._accepts_connections, what="the database answers", period=0.05)

    async def stop(self) -> None:
        """Stop the server: connections are closed, and no data are lost."""
        process, self.process = self.process, None
        if process is not None:
            process.send_signal(signal.SIGINT)
            await asyncio.to_thread(process.wait, 30)

    async def remove(self) -> None:
        await self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    async def execute(self, *statements: str, database: str = "postgres") -> None:
        """Execute each statement as the administrator, in its own transaction."""
        connection = await self._connect(database)
        try:
            for statement in statements:
                await connection.execute(statement)
        finally:
            await connection.close()

    async def _accepts_connections(self) -> bool:
        try:
            await self.execute(
                "ALTER ROLE postgres PASSWORD '{}'".format(ADMINISTRATOR.replace("'", "''"))
            )
        except (OSError, asyncpg.PostgresError):
            return False
        return True

    async def _connect(self, database: str) -> "asyncpg.Connection[asyncpg.Record]":
        return await asyncpg.connect(
            host=str(self.folder), port=self.port, user="postgres", database=database
        )


def make_network_postgres() -> NetworkPostgres:
    """Fill a new temporary folder, which takes about 1 s, without starting the server."""
    folder = Path(tempfile.mkdtemp(prefix="sluice-net-pg-"))
    folder.chmod(0o777)  # as root the server runs as a user of its own, which makes its socket here
    data = folder / "data"
    fill_data_folder(data, "--no-sync")
    (port,) = free_ports(1)
    with (data / "postgresql.conf").open("a") as configuration:
        configuration.write(
            f"{SETTINGS}\nlisten_addresses = '127.0.0.1'\nport = {port}\nunix_socket_directories ="
            f" '{folder}'\n"
        )
    (data / "pg_hba.conf").write_text(RULES)
    return NetworkPostgres(folder, port)
