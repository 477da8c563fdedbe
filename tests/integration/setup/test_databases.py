"""`sluice setup databases` gives each service a login and a database that no other may enter."""

import asyncio
from urllib.parse import quote

import asyncpg
import pytest
from typer.testing import CliRunner

from sluice.cli.app import command_line
from sluice.contracts.access.services import SERVICES
from sluice.contracts.common.problems import Conflict, NotAvailable
from sluice.servicekit.migrate import Migrator
from sluice.setup.databases import set_up_databases
from sluice.setup.logins import ServiceLogin
from stack.ports import free_ports
from tests.integration.setup.conftest import Logins
from tests.servers.network_postgres import NetworkPostgres


async def connect(
    server: NetworkPostgres, login: ServiceLogin, database: str
) -> "asyncpg.Connection[asyncpg.Record]":
    return await asyncpg.connect(
        host="127.0.0.1",
        port=server.port,
        user=login.user,
        password=login.password,
        database=database,
    )


async def fetch_value(server: NetworkPostgres, login: ServiceLogin, statement: str) -> object:
    connection = await connect(server, login, login.place)
    try:
        return await connection.fetchval(statement)
    finally:
        await connection.close()


async def test_each_login_can_use_only_its_own_database(
    postgres: NetworkPostgres, logins: Logins
) -> None:
    await set_up_databases(postgres.admin_url, logins())
    for login in logins():
        await fetch_value(postgres, login, "CREATE TABLE own AS SELECT 42 AS n")
        assert await fetch_value(postgres, login, "SELECT n FROM own") == 42
        for other in logins():
            if other != login:
                with pytest.raises(
                    asyncpg.InsufficientPrivilegeError, match="permission denied for database"
                ):
                    await connect(postgres, login, other.place)
        with pytest.raises(asyncpg.InvalidPasswordError):
            await connect(postgres, ServiceLogin("", login.user, "wrong", "", ""), login.place)
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await fetch_value(postgres, login, "CREATE DATABASE mine")


async def test_repeated_database_setup_changes_nothing(
    postgres: NetworkPostgres, logins: Logins
) -> None:
    assert len(await set_up_databases(postgres.admin_url, logins())) == 2 * len(SERVICES)
    before = await _read_authentication(postgres)
    assert await set_up_databases(postgres.admin_url, logins()) == []
    assert await _read_authentication(postgres) == before


async def test_database_setup_takes_over_a_new_password_from_the_settings(
    postgres: NetworkPostgres, logins: Logins
) -> None:
    await set_up_databases(postgres.admin_url, logins())
    old, new = logins()[0], logins("another")[0]
    changes = await set_up_databases(postgres.admin_url, [new, *logins()[1:]])
    assert changes == [f"login {new.user}: password taken over from the settings of {new.service}"]
    assert await fetch_value(postgres, new, "SELECT 1") == 1
    with pytest.raises(asyncpg.InvalidPasswordError):
        await connect(postgres, old, old.place)


async def test_setup_takes_over_a_database_that_another_login_filled(
    postgres: NetworkPostgres, logins: Logins
) -> None:
    """Older installations used the administrator's login for all services."""
    (login,) = (login for login in logins() if login.service == "dms")
    await postgres.execute(
        f'CREATE DATABASE "{login.place}"', f'GRANT CONNECT ON DATABASE "{login.place}" TO PUBLIC'
    )
    admin = f"{postgres.admin_url.rpartition('/')[0]}/{login.place.replace(' ', '%20')}"
    await Migrator(admin, "dms.db.migrations").start()
    await postgres.execute("CREATE VIEW names AS SELECT name FROM storages", database=login.place)
    changes = await set_up_databases(postgres.admin_url, logins())
    assert any("tables belong to" in change for change in changes)
    assert await fetch_value(postgres, login, "SELECT count(*) FROM names") == 0
    await fetch_value(postgres, login, "ALTER TABLE storages ADD COLUMN remark text")
    await fetch_value(postgres, login, "SELECT nextval('closed_positions')")
    other = next(other for other in logins() if other.service == "wms")
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await connect(postgres, other, login.place)
    assert await set_up_databases(postgres.admin_url, logins()) == []


async def test_setup_keeps_the_tables_of_an_existing_login(
    postgres: NetworkPostgres, logins: Logins
) -> None:
    login = logins()[0]
    await postgres.execute(
        f"CREATE ROLE \"{login.user}\" LOGIN CREATEDB PASSWORD 'before'",
        f'CREATE DATABASE "{login.place}" OWNER "{login.user}"',
        f'GRANT CONNECT ON DATABASE "{login.place}" TO "{login.user}"',
    )
    await postgres.execute(
        f'SET ROLE "{login.user}"', "CREATE TABLE kept AS SELECT 7 AS n", database=login.place
    )
    await postgres.execute(
        f'ALTER TABLE IF EXISTS kept OWNER TO "{login.user}"', database=login.place
    )
    changes = await set_up_databases(postgres.admin_url, logins())
    assert f"login {login.user}: rights set to those of {login.service}" in changes
    assert await fetch_value(postgres, login, "SELECT n FROM kept") == 7


async def test_setup_revokes_rights_on_the_database_of_another_service(
    postgres: NetworkPostgres, logins: Logins
) -> None:
    await set_up_databases(postgres.admin_url, logins())
    mine, other = logins()[:2]
    await postgres.execute(
        f'GRANT CONNECT ON DATABASE "{mine.place}" TO "{other.user}"', "CREATE ROLE watching"
    )
    await postgres.execute(f'GRANT CONNECT ON DATABASE "{mine.place}" TO watching')
    assert await set_up_databases(postgres.admin_url, logins()) == [
        f"database {mine.place}: no longer open to {other.user}"
    ]
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await connect(postgres, other, mine.place)


async def test_setup_refuses_superusers_and_databases_of_other_services(
    postgres: NetworkPostgres, logins: Logins
) -> None:
    superuser = ServiceLogin("dms", "postgres", "x", "dms", "SLUICE_DMS_DATABASE_URL")
    with pytest.raises(Conflict, match="SLUICE_DMS_DATABASE_URL: postgres is a superuser"):
        await set_up_databases(postgres.admin_url, [superuser])
    await set_up_databases(postgres.admin_url, logins())
    mine, other = logins()[:2]
    superuser_login = ServiceLogin(mine.service, mine.user, mine.password, other.place, "SLUICE_X")
    with pytest.raises(Conflict, match=r"SLUICE_X: the database .* another service's login"):
        await set_up_databases(postgres.admin_url, [superuser_login, other])
    own = postgres.url(quote(mine.user), quote(mine.password), quote(mine.place))
    with pytest.raises(Conflict, match="not a superuser"):
        await set_up_databases(own, logins())
    (nowhere,) = free_ports(1)
    with pytest.raises(NotAvailable, match="does not let the administrator in"):
        await set_up_databases(f"postgresql://postgres:x@127.0.0.1:{nowhere}/postgres", logins())


async def test_setup_databases_command_reads_the_settings_of_the_services(
    postgres: NetworkPostgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    for service in SERVICES:
        short = service.removeprefix("wfms.")
        monkeypatch.setenv(
            f"SLUICE_{short.upper()}_DATABASE_URL",
            postgres.url(short, f"{short}-secret", f"{short}_db"),
        )
    monkeypatch.setenv("SLUICE_SETUP_ADMIN_URL", postgres.admin_url)

    async def output() -> str:
        result = await asyncio.to_thread(CliRunner().invoke, command_line(), ["setup", "databases"])
        assert result.exit_code == 0, result.output
        return result.output

    assert "database chains_db made, for wfms.chains" in await output()
    assert "everything is as it has to be" in await output()
    assert (
        await fetch_value(
            postgres, ServiceLogin("dms", "dms", "dms-secret", "dms_db", ""), "SELECT current_user"
        )
        == "dms"
    )


async def _read_authentication(server: NetworkPostgres) -> object:
    connection = await asyncpg.connect(server.admin_url)
    try:
        return [
            tuple(row)
            for row in await connection.fetch(
                "SELECT rolname, rolpassword, xmin::text FROM pg_authid ORDER BY 1"
            )
        ]
    finally:
        await connection.close()
