"""Migrations: each service brings its database up to date when it starts; of instances that start together one does it."""

import re
from importlib import resources

import asyncpg
import structlog

from sluice.contracts.problems import NotAvailable
from sluice.servicekit.database import LOST_CONNECTION

log = structlog.get_logger(__name__)

_REVISION = re.compile(r'^revision = "(?P<name>\w+)"$', re.MULTILINE)
_BEFORE = re.compile(r'^down_revision = "(?P<name>\w+)"$', re.MULTILINE)


class Migrator:
    """Component: upgrades the database at ``url`` with the revisions in package ``versions`` (``dms.db.migrations`` …)."""

    def __init__(self, url: str, versions: str) -> None:
        self._url = url
        self._versions = versions

    async def start(self) -> None:
        """Raises ``NotAvailable`` when the database does not answer."""
        head = newest_revision(self._versions)
        try:
            connection = await asyncpg.connect(self._url)
        except LOST_CONNECTION as error:
            raise NotAvailable(f"the database for {self._versions} does not answer: {error}") from error
        try:
            if await _revision(connection) == head:
                return
        finally:
            await connection.close()
        from sluice.servicekit.upgrade import upgrade  # noqa: PLC0415 - takes two seconds, and most starts find nothing to do

        await upgrade(self._url, self._versions)
        log.info("database.migrated", versions=self._versions, revision=head)

    async def stop(self) -> None:
        return None


def newest_revision(versions: str) -> str:
    """The revision that none follows. Raises ``ValueError`` unless there is exactly one."""
    texts = [file.read_text() for file in resources.files(versions).iterdir() if file.name.endswith(".py")]
    known = {found["name"] for text in texts if (found := _REVISION.search(text))}
    followed = {found["name"] for text in texts if (found := _BEFORE.search(text))}
    if len(heads := known - followed) != 1:
        raise ValueError(f"{versions} has {len(heads)} newest revisions, not one: {sorted(heads)}")
    return heads.pop()


async def _revision(connection: "asyncpg.Connection[asyncpg.Record]") -> str | None:
    if await connection.fetchval("SELECT to_regclass('alembic_version')") is None:
        return None
    revision: str | None = await connection.fetchval("SELECT version_num FROM alembic_version")
    return revision
