"""Running migrations with Alembic; imported only where there is one to run: Alembic and SQLAlchemy
take two seconds to load.
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

from sluice.contracts.problems import NotAvailable

if TYPE_CHECKING:
    Session = asyncpg.Connection[asyncpg.Record]
else:
    Session = object  # the class is generic for the type checker only

#: While a migration waits for a lock, every later statement on that table waits behind it.
LOCK_TIMEOUT = "2s"
#: One that needs longer says so itself (``SET LOCAL statement_timeout``), and is one that holds no
#: lock others wait for.
STATEMENT_TIMEOUT = "30s"


_locks: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()


class MigrationTooSlow(Exception):
    """A statement of a migration took longer than ``STATEMENT_TIMEOUT``: it may not hold up the
    services for so long.
    """

    def __init__(self, versions: str, revision: str) -> None:
        super().__init__(
            f"migration {revision} of {versions} was ended: one of its statements took longer than"
            f" {STATEMENT_TIMEOUT}"
        )
        self.versions = versions
        self.revision = revision


async def upgrade(session: Session, versions: str) -> None:
    """Brings the database to the newest revision in package ``versions``: each migration in a
    transaction and with timeouts of its own. ``session`` is used up; a lock that it holds is held
    to the end.

    Raises ``NotAvailable`` when a lock was not to be had in time (what is done is done, the rest
    can be tried again) and ``MigrationTooSlow``.
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
    """The whole schema as one SQL script: what all revisions make of an empty database. Needs no
    database.
    """
    config = _config(versions)
    config.output_buffer = written = io.StringIO()
    command.upgrade(config, "head", sql=True)
    return written.getvalue()


def _one_at_a_time() -> asyncio.Lock:
    """Alembic keeps the migration under way in module globals: services that share a process and a
    loop take turns.
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
                    raise MigrationTooSlow(versions, revision) from error
            raise


def _missing(connection: Connection, config: Config) -> list[str]:
    """Revisions to apply, in order."""
    current = MigrationContext.configure(connection).get_current_revision()
    connection.commit()
    steps = ScriptDirectory.from_config(config).iterate_revisions("head", current or "base")
    return [step.revision for step in steps][::-1]
