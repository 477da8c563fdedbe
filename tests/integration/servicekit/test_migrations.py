"""A service migrates its database when it starts, also if several instances start together."""

import asyncio

import asyncpg
import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory

from sluice.contracts.access.services import SERVICES
from sluice.contracts.common.problems import NotAvailable
from sluice.servicekit.migrate import Migrator, SchemaTooOld, read_revisions
from tests.conftest import DatabaseFactory

VERSIONS = [f"{service}.db.migrations" for service in SERVICES]


async def read_revision(url: str) -> str:
    connection = await asyncpg.connect(url)
    try:
        return str(await connection.fetchval("SELECT version_num FROM alembic_version"))
    finally:
        await connection.close()


@pytest.mark.parametrize("versions", VERSIONS)
def test_newest_revision_is_the_head_that_alembic_finds(versions: str) -> None:
    config = Config()
    config.set_main_option("script_location", "sluice/servicekit/migrations")
    config.set_main_option("path_separator", "os")
    config.set_main_option("version_locations", versions.replace(".", "/"))
    assert (
        read_revisions(versions).newest_revision
        == ScriptDirectory.from_config(config).get_current_head()
    )


@pytest.mark.parametrize("versions", VERSIONS)
async def test_instances_that_start_together_migrate_once(
    make_database: DatabaseFactory, versions: str
) -> None:
    url = await make_database()
    await asyncio.gather(*(Migrator(url, versions).start() for _ in range(3)))
    assert await read_revision(url) == read_revisions(versions).newest_revision
    await Migrator(url, versions).start()
    assert await read_revision(url) == read_revisions(versions).newest_revision


async def test_migration_of_an_unreachable_database_names_the_database() -> None:
    with pytest.raises(NotAvailable, match=r"dms\.db\.migrations does not answer"):
        await Migrator("postgresql://nobody@127.0.0.1:1/nothing", "dms.db.migrations").start()


@pytest.mark.parametrize("versions", VERSIONS)
async def test_database_from_before_the_baseline_is_refused_and_not_changed(
    make_database: DatabaseFactory, versions: str
) -> None:
    url, older = await make_database(), f"{read_revisions(versions).oldest_revision[:-4]}0002"
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(f"CREATE TABLE alembic_version AS SELECT '{older}' AS version_num")
        with pytest.raises(SchemaTooOld, match=f"{versions} has schema {older}, .*not changed"):
            await Migrator(url, versions).start()
        tables = await connection.fetch("SELECT relname FROM pg_stat_user_tables")
    finally:
        await connection.close()
    assert [row["relname"] for row in tables] == ["alembic_version"]
    assert await read_revision(url) == older
