"""The login for backups may stream the write-ahead log and read no tables."""

import subprocess
from urllib.parse import quote

import asyncpg
import pytest

from sluice.setup.databases import set_up_databases
from sluice.setup.logins import ServiceLogin
from stack.postgres import binaries
from tests.integration.setup.conftest import Logins
from tests.servers.network_postgres import NetworkPostgres

BACKUP = ServiceLogin("the backup", "the backup", "se'cret", "postgres", "SLUICE_SETUP_BACKUP_URL")


def stream_backup(
    server: NetworkPostgres, login: ServiceLogin
) -> "subprocess.CompletedProcess[str]":
    """Run the command that starts a backup."""
    url = (
        f"postgresql://{quote(login.user)}:{quote(login.password)}@127.0.0.1:{server.port}/postgres"
    )
    command = [
        str(binaries() / "pg_receivewal"),
        "--dbname",
        url,
        "--slot=test",
        "--create-slot",
        "--if-not-exists",
        "--no-password",
    ]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


async def test_backup_login_may_stream_and_service_logins_may_not(
    postgres: NetworkPostgres, logins: Logins
) -> None:
    changes = await set_up_databases(postgres.admin_url, logins(), BACKUP)
    assert f"login {BACKUP.user} made, for the backup" in changes
    assert await set_up_databases(postgres.admin_url, logins(), BACKUP) == []
    backup = stream_backup(postgres, BACKUP)
    assert backup.returncode == 0, backup.stderr
    await postgres.execute("SELECT pg_drop_replication_slot('test')")
    assert "permission denied to start WAL sender" in stream_backup(postgres, logins()[0]).stderr
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="permission denied for database"):
        await asyncpg.connect(
            host="127.0.0.1",
            port=postgres.port,
            user=BACKUP.user,
            password=BACKUP.password,
            database=logins()[0].place,
        )


async def test_setup_revokes_the_replication_right_of_a_service(
    postgres: NetworkPostgres, logins: Logins
) -> None:
    await set_up_databases(postgres.admin_url, logins())
    login = logins()[0]
    await postgres.execute(f'ALTER ROLE "{login.user}" REPLICATION')
    changes = await set_up_databases(postgres.admin_url, logins())
    assert changes == [f"login {login.user}: rights set to those of {login.service}"]
    assert "permission denied to start WAL sender" in stream_backup(postgres, login).stderr
