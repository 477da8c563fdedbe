"""Running migrations with Alembic; imported only where there is one to run: Alembic and SQLAlchemy take two seconds to load."""

import asyncio
import zlib
from importlib import resources
from weakref import WeakKeyDictionary

import asyncpg
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

_locks: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()


async def upgrade(url: str, versions: str) -> None:
    """Brings the database to the newest revision in package ``versions``. Instances that do so together wait for each other, and
    the later ones find nothing left to do."""
    engine = create_async_engine("postgresql+asyncpg://", async_creator=lambda: asyncpg.connect(url), poolclass=NullPool)
    try:
        async with _one_at_a_time(), engine.connect() as connection:
            await connection.run_sync(_upgrade, _config(versions), zlib.crc32(versions.encode()))
    finally:
        await engine.dispose()


def _one_at_a_time() -> asyncio.Lock:
    """Alembic keeps the migration under way in module globals: services that share a process and a loop take turns."""
    return _locks.setdefault(asyncio.get_running_loop(), asyncio.Lock())


def _config(versions: str) -> Config:
    config = Config()
    config.set_main_option("script_location", str(resources.files("sluice.servicekit") / "migrations"))
    config.set_main_option("path_separator", "os")
    config.set_main_option("version_locations", str(resources.files(versions)))
    return config


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
