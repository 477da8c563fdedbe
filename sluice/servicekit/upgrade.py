"""Migrations with Alembic. The import of Alembic and SQLAlchemy takes two seconds.

This module is imported only when there is a migration to run.
"""

import asyncio
import io
from importlib import resources
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import asyncpg
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from sluice.contracts.common.problems import NotAvailable

if TYPE_CHECKING:
    Session = asyncpg.Connection[asyncpg.Record]
else:
    Session = object  # the class is generic only for the type checker

#: While a migration waits for a lock, every later statement on the table waits behind it.
LOCK_TIMEOUT = "2s"
#: A migration that needs longer sets its own limit (``SET LOCAL statement_timeout``) and must not
#: hold a lock that others wait for.
STATEMENT_TIMEOUT = "30s"


_locks: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()


class MigrationTimeout(Exception):
    """A statement of a migration exceeded ``STATEMENT_TIMEOUT`` and would block the services."""

    def __init__(self, versions: str, revision: str) -> None:
        super().__init__(
            f"migration {revision} of {versions} was ended: one of its statements took longer than"
            f" {STATEMENT_TIMEOUT}"
        )
        self.versions = versions
        self.revision = revision


async def upgrade(session: Session, versions: str) -> None:
    """Upgrade the database to the newest revision in package ``versions``.

    Each migration has its own transaction and timeouts. ``session`` cannot be used afterwards; its
    locks are held to the end.

    Raises:
        NotAvailable: A lock was not available in time. Finished migrations stay, the rest can be
            retried.
        MigrationTimeout: A statement took too long.
    """

    async def hand_over() -> Session:
        return session

    engine = create_async_engine(
        "postgresql+asyncpg://", async_creator=hand_over, poolclass=NullPool
    )
    try:
        async with _one_at_a_time(), engine.connect() as connection:
            await connection.run_sync(_upgrade, versions)
    finally:
        await engine.dispose()


def schema_sql(versions: str) -> str:
    """Return the schema that all revisions produce in an empty database, as one SQL script.

    This needs no database.
    """
    config = _config(versions)
    config.output_buffer = output = io.StringIO()
    command.upgrade(config, "head", sql=True)
    return output.getvalue()


def _one_at_a_time() -> asyncio.Lock:
    """Return a lock for the migrations of this event loop.

    Alembic keeps the running migration in module globals, so services that share a process take
    turns.
    """
    return _locks.setdefault(asyncio.get_running_loop(), asyncio.Lock())


def _config(versions: str) -> Config:
    config = Config()
    config.set_main_option(
        "script_location", str(resources.files("sluice.servicekit") / "migrations")
    )
    config.set_main_option("path_separator", "os")
    config.set_main_option("version_locations", str(resources.files(versions)))
    return config


def _upgrade(connection: Connection, versions: str) -> None:
    config = _config(versions)
    config.attributes["connection"] = connection
    for revision in _missing(connection, config):
        connection.execute(text(f"SET lock_timeout = '{LOCK_TIMEOUT}'"))
        connection.execute(text(f"SET statement_timeout = '{STATEMENT_TIMEOUT}'"))
        connection.commit()
        try:
            command.upgrade(config, revision)
            connection.commit()
        except DBAPIError as error:
            match getattr(error.orig, "sqlstate", None):
                case "55P03":  # lock_not_available
                    raise NotAvailable(
                        f"migration {revision} of {versions} did not get a lock within"
                        f" {LOCK_TIMEOUT}: another session holds it"
                    ) from error
                case "40P01":  # deadlock_detected
                    raise NotAvailable(
                        f"migration {revision} of {versions} and another session waited for each"
                        " other"
                    ) from error
                case _ if error.connection_invalidated:
                    raise NotAvailable(
                        f"the connection was lost during migration {revision} of {versions}"
                    ) from error
                case "57014":  # query_canceled
                    raise MigrationTimeout(versions, revision) from error
            raise


def _missing(connection: Connection, config: Config) -> list[str]:
    """Return the revisions to apply, in order."""
    current = MigrationContext.configure(connection).get_current_revision()
    connection.commit()
    steps = ScriptDirectory.from_config(config).iterate_revisions("head", current or "base")
    return [step.revision for step in steps][::-1]
