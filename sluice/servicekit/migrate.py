"""Migrations: each service brings its database up to date when it starts; of instances that start together one does it."""

import asyncio
import zlib
from importlib import resources
from weakref import WeakKeyDictionary

import asyncpg
import structlog
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from sluice.contracts.problems import NotAvailable
from sluice.servicekit.database import LOST_CONNECTION

log = structlog.get_logger(__name__)

_locks: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()


def _one_at_a_time() -> asyncio.Lock:
    """Alembic keeps the migration under way in module globals: services that share a process and a loop take turns."""
    return _locks.setdefault(asyncio.get_running_loop(), asyncio.Lock())


class Migrator:
    """Component: upgrades the database at ``url`` with the revisions in package ``versions`` (``dms.db.migrations`` …)."""

    def __init__(self, url: str, versions: str) -> None:
        self._url = url
        self._versions = versions

    async def start(self) -> None:
        """Raises ``NotAvailable`` when the database does not answer."""
        config = alembic_config(self._versions)
        head = ScriptDirectory.from_config(config).get_current_head()
        try:
            connection = await asyncpg.connect(self._url)
        except LOST_CONNECTION as error:
            raise NotAvailable(f"the database for {self._versions} does not answer: {error}") from error
        try:
            if await _revision(connection) == head:
                return
        finally:
            await connection.close()
        engine = create_async_engine(
            "postgresql+asyncpg://", async_creator=lambda: asyncpg.connect(self._url), poolclass=NullPool
        )
        try:
            async with _one_at_a_time(), engine.connect() as sql:
                await sql.run_sync(_upgrade, config, zlib.crc32(self._versions.encode()))
        finally:
            await engine.dispose()
        log.info("database.migrated", versions=self._versions, revision=head)

    async def stop(self) -> None:
        return None


def alembic_config(versions: str) -> Config:
    config = Config()
    config.set_main_option("script_location", str(resources.files("sluice.servicekit") / "migrations"))
    config.set_main_option("path_separator", "os")
    config.set_main_option("version_locations", str(resources.files(versions)))
    return config


async def _revision(connection: "asyncpg.Connection[asyncpg.Record]") -> str | None:
    if await connection.fetchval("SELECT to_regclass('alembic_version')") is None:
        return None
    revision: str | None = await connection.fetchval("SELECT version_num FROM alembic_version")
    return revision


def _upgrade(connection: Connection, config: Config, lock: int) -> None:
    connection.execute(text("SELECT pg_advisory_lock(:lock)"), {"lock": lock})
    connection.commit()
    try:
        connection.execute(text("SET lock_timeout = '10s'"))
        connection.commit()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        connection.commit()
    finally:
        connection.rollback()
        connection.execute(text("SELECT pg_advisory_unlock(:lock)"), {"lock": lock})
        connection.commit()
