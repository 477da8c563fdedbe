"""Migrations of a database in use wait for each lock only briefly and retry until they get it."""

import asyncio
import sys
import textwrap
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg
import pytest

from sluice.contracts.common.problems import NotAvailable
from sluice.servicekit import upgrade
from sluice.servicekit.migrate import Migrator
from sluice.servicekit.running.startup import start_when_possible
from tests.waiting import eventually

TEMPLATE = """
from alembic import op

revision = "{name}"
down_revision = {before}


def upgrade():
{body}
"""

MAKE = "op.execute('CREATE TABLE notes (id int PRIMARY KEY)')"
ADD = "op.execute('ALTER TABLE notes ADD COLUMN text text')"
INDEX = (
    "with op.get_context().autocommit_block(): op.execute('CREATE INDEX CONCURRENTLY notes_text ON"
    " notes (text)')"
)

MakeVersions = Callable[..., str]


@pytest.fixture
def versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeVersions]:
    """Return a function that creates a package with a revision for each statement."""
    monkeypatch.syspath_prepend(str(tmp_path))
    names: list[str] = []

    def make(*statements: str) -> str:
        name = f"release_{tmp_path.name.replace('-', '_')}_{len(names)}"
        folder = tmp_path / name / "migrations"
        folder.mkdir(parents=True)
        for package in (folder, folder.parent):
            (package / "__init__.py").touch()
        for number, statement in enumerate(statements, 1):
            body = textwrap.indent(statement, "    ")
            before = f'"r{number - 1}"' if number > 1 else "None"
            (folder / f"r{number}.py").write_text(
                TEMPLATE.format(name=f"r{number}", before=before, body=body)
            )
        names.append(name)
        return f"{name}.migrations"

    yield make
    for name in names:
        sys.modules.pop(f"{name}.migrations", None)
        sys.modules.pop(name, None)


async def fetch_value(url: str, statement: str) -> object:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval(statement)
    finally:
        await connection.close()


@asynccontextmanager
async def hold_transaction(url: str, statement: str) -> AsyncIterator[None]:
    """Keep another session within a transaction."""
    connection = await asyncpg.connect(url)
    try:
        async with connection.transaction():
            await connection.execute(statement)
            yield
    finally:
        await connection.close()


COLUMNS = "SELECT count(*) FROM information_schema.columns WHERE table_name = 'notes'"


async def test_migration_retries_while_a_long_transaction_reads_the_table(
    database_url: str, versions: MakeVersions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upgrade, "LOCK_TIMEOUT", "50ms")
    await Migrator(database_url, versions(MAKE)).start()
    release = versions(MAKE, ADD)
    reasons: list[str] = []
    migrator = Migrator(database_url, release)
    async with hold_transaction(database_url, "SELECT * FROM notes"):
        with pytest.raises(
            NotAvailable, match=r"migration r2 of .* did not get a lock within 50ms"
        ):
            await migrator.start()
        assert await fetch_value(database_url, "SELECT 1 FROM notes UNION SELECT 1") == 1, (
            "a query waited for the migration"
        )
        start = asyncio.create_task(
            start_when_possible(migrator, what="database", tell=lambda _, why: reasons.append(why))
        )

        async def has_waited() -> bool:
            return len(reasons) >= 2

        await eventually(has_waited, what="two tries")
        assert await fetch_value(database_url, COLUMNS) == 1
    await start
    assert await fetch_value(database_url, COLUMNS) == 2
    assert all("r2" in why for why in reasons)


async def test_revisions_before_a_missing_lock_stay_applied(
    database_url: str, versions: MakeVersions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upgrade, "LOCK_TIMEOUT", "50ms")
    await Migrator(database_url, versions(MAKE)).start()
    release = versions(MAKE, "op.execute('CREATE TABLE beside (id int)')", ADD)
    async with hold_transaction(database_url, "SELECT * FROM notes"):
        with pytest.raises(NotAvailable, match="migration r3"):
            await Migrator(database_url, release).start()
        assert await fetch_value(database_url, "SELECT version_num FROM alembic_version") == "r2"
    await Migrator(database_url, release).start()
    assert await fetch_value(database_url, "SELECT version_num FROM alembic_version") == "r3"


async def test_slow_migration_statement_is_ended_by_its_timeout(
    database_url: str, versions: MakeVersions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upgrade, "STATEMENT_TIMEOUT", "50ms")
    slow = "op.execute('SELECT pg_sleep(60)')"
    with pytest.raises(upgrade.MigrationTimeout, match="migration r2 of"):
        await Migrator(database_url, versions(MAKE, slow)).start()
    own = "op.execute(\"SET LOCAL statement_timeout = '30s'\"); op.execute('SELECT pg_sleep(0.2)')"
    await Migrator(database_url, versions(MAKE, own, "op.execute('SELECT 1')")).start()
    with pytest.raises(upgrade.MigrationTimeout, match="migration r4 of"):
        await Migrator(database_url, versions(MAKE, own, "op.execute('SELECT 1')", slow)).start()


async def test_concurrent_instances_build_an_index_concurrently_without_a_deadlock(
    database_url: str, versions: MakeVersions
) -> None:
    """Waiting instances must not hold a snapshot: the index waits for older snapshots."""
    release = versions(MAKE, ADD, INDEX)
    async with asyncio.timeout(30):
        await asyncio.gather(*(Migrator(database_url, release).start() for _ in range(4)))
    assert (
        await fetch_value(
            database_url,
            "SELECT indisvalid FROM pg_index WHERE indexrelid = 'notes_text'::regclass",
        )
        is True
    )


async def test_instance_of_the_previous_release_starts_on_the_new_schema(
    database_url: str, versions: MakeVersions
) -> None:
    before, after = versions(MAKE), versions(MAKE, ADD)
    await Migrator(database_url, after).start()
    await Migrator(database_url, before).start()
    assert await fetch_value(database_url, "SELECT version_num FROM alembic_version") == "r2"


async def test_migration_that_is_stopped_midway_leaves_no_changes(
    database_url: str, versions: MakeVersions
) -> None:
    await Migrator(database_url, versions(MAKE)).start()
    release = versions(MAKE, ADD + "; op.execute('SELECT pg_sleep(20)')")
    start = asyncio.create_task(Migrator(database_url, release).start())
    sleeping = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event ="
        " 'PgSleep'"
    )

    async def sleeps() -> bool:
        return await fetch_value(database_url, sleeping) == 1

    await eventually(sleeps, what="the migration is under way")
    start.cancel()
    await asyncio.gather(start, return_exceptions=True)

    async def is_over() -> bool:
        return await fetch_value(database_url, sleeping) == 0

    await eventually(is_over, what="its session has ended", seconds=10)
    assert await fetch_value(database_url, COLUMNS) == 1
    await Migrator(database_url, versions(MAKE, ADD)).start()
    assert await fetch_value(database_url, COLUMNS) == 2
