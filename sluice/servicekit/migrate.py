"""Migrations: each service upgrades its database when it starts.

Of several instances that start together, one does it. An empty database gets the whole schema at
once, from ``schema.sql`` beside the package of the revisions, which is generated from them (``make
docs``). Only a database with an older schema goes through the revisions.
"""

import asyncio
import re
import zlib
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

import asyncpg
import structlog

from sluice.contracts.common.problems import NotAvailable
from sluice.servicekit.database import CANNOT_CONNECT, CONNECT_TIMEOUT, error_text, session_settings

if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record]
else:
    Connection = object  # the class is generic only for the type checker

log = structlog.get_logger(__name__)

_REVISION = re.compile(r'^revision = "(?P<name>\w+)"$', re.MULTILINE)
_BEFORE = re.compile(r'^down_revision = "(?P<name>\w+)"$', re.MULTILINE)

#: The session holds the lock under which one instance migrates. A session that stands still between
#: two statements must lose it.
MIGRATING = {"idle_session_timeout": "60s"}

#: Seconds between two checks whether another instance has finished.
LOOK_AGAIN = 0.1


class SchemaTooOld(Exception):
    """A database has a schema from before the oldest migration. Nothing was changed in it."""

    def __init__(self, versions: str, revision: str, oldest_revision: str) -> None:
        super().__init__(
            f"the database for {versions} has schema {revision}, which is older than"
            f" {oldest_revision}, the oldest that this release can upgrade. The database was not"
            " changed. Continue with the release that made it, or begin with an empty database."
        )
        self.versions = versions
        self.revision = revision
        self.oldest_revision = oldest_revision


class Migrator:
    """Component that upgrades the database at ``url`` with the revisions in a package.

    ``versions`` names the package (``dms.db.migrations`` …). Others may use the database at the
    same time: a migration never waits long for a lock (see ``upgrade``), because every later
    statement would wait too.
    """

    def __init__(self, url: str, versions: str) -> None:
        self._url = url
        self._versions = versions

    async def start(self) -> None:
        """Upgrade the database if it is out of date.

        Raises:
            NotAvailable: The database does not answer, or others hold a lock that a migration
                needs. Retry.
            SchemaTooOld: The schema is older than the oldest migration.
        """
        revisions = read_revisions(self._versions)
        try:
            connection = await asyncpg.connect(
                self._url,
                timeout=CONNECT_TIMEOUT,
                server_settings=session_settings(self._url, MIGRATING),
            )
        except CANNOT_CONNECT as error:
            raise NotAvailable(
                f"the database for {self._versions} does not answer: {error_text(error)}"
            ) from error
        try:
            if not await self._is_new_enough(connection, revisions):
                await self._upgrade(connection, revisions)
        except CANNOT_CONNECT as error:
            raise NotAvailable(
                f"the database for {self._versions} could not be brought up to date:"
                f" {error_text(error)}"
            ) from error
        finally:
            await connection.close(timeout=CONNECT_TIMEOUT)

    async def stop(self) -> None:
        """Do nothing: the connection is closed when the upgrade ends."""

    async def _upgrade(self, connection: Connection, revisions: "Revisions") -> None:
        """Upgrade the database under a lock that ends with the session.

        An empty database gets the whole schema, which avoids the import of Alembic. The lock is
        polled: a session that waits for it would hold a snapshot, and ``CREATE INDEX CONCURRENTLY``
        of the migrating instance would wait for that session.
        """
        lock = zlib.crc32(self._versions.encode())
        while not await connection.fetchval("SELECT pg_try_advisory_lock($1)", lock):  # noqa: ASYNC110 - others hold it
            await asyncio.sleep(LOOK_AGAIN)
        if await self._is_new_enough(connection, revisions):
            return
        schema = resources.files(self._versions.rpartition(".")[0]) / "schema.sql"
        if await _revision(connection) is None and schema.is_file():
            async with connection.transaction():
                await connection.execute(schema.read_text())
            log.info("database.made", versions=self._versions, revision=revisions.newest_revision)
            return
        # The import takes two seconds, and most starts find nothing to upgrade.
        from sluice.servicekit.upgrade import upgrade  # noqa: PLC0415

        await upgrade(connection, self._versions)
        log.info("database.migrated", versions=self._versions, revision=revisions.newest_revision)

    async def _is_new_enough(self, connection: Connection, revisions: "Revisions") -> bool:
        revision = await _revision(connection)
        if revision is not None and revision not in revisions.names:
            if revision < revisions.oldest_revision:
                raise SchemaTooOld(self._versions, revision, revisions.oldest_revision)
            log.info(
                "database.is_newer",
                versions=self._versions,
                found=revision,
                known=revisions.newest_revision,
            )
            return True
        return revision == revisions.newest_revision


@dataclass(frozen=True, slots=True)
class Revisions:
    """The names of all revisions, of the oldest and of the newest one. The names are in order."""

    names: frozenset[str]
    oldest_revision: str
    newest_revision: str


def read_revisions(versions: str) -> Revisions:
    """Return the revisions in a package. The newest one is the one without a successor.

    Raises:
        ValueError: There is not exactly one newest revision.
    """
    texts = [
        file.read_text()
        for file in resources.files(versions).iterdir()
        if file.name.endswith(".py")
    ]
    names = frozenset(match["name"] for text in texts if (match := _REVISION.search(text)))
    predecessors = {match["name"] for text in texts if (match := _BEFORE.search(text))}
    if len(heads := names - predecessors) != 1:
        raise ValueError(f"{versions} has {len(heads)} newest revisions, not one: {sorted(heads)}")
    return Revisions(names, min(names), *heads)


async def _revision(connection: Connection) -> str | None:
    if await connection.fetchval("SELECT to_regclass('alembic_version')") is None:
        return None
    revision: str | None = await connection.fetchval("SELECT version_num FROM alembic_version")
    return revision
