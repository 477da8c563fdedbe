"""Update of the databases after a home folder was moved, because they contain absolute URLs."""

import json
from collections.abc import Callable, Sequence

import asyncpg
import structlog

from sluice.contracts.common.states import StorageType
from sluice.embedded.home import Home
from sluice.storage import build_local_url, find_local_path

log = structlog.get_logger(__name__)

#: The name of a storage that every embedded system has, and the database with its URL.
FIRST_STORAGE, _CATALOGUE = f"embedded-{StorageType.INPUT}", "dms"

_SELECT_URL = "SELECT url FROM storages WHERE name = $1"
_TABLE_EXISTS = "SELECT to_regclass($1) IS NOT NULL"
# The DMS records paths without links again when it checks the storages.
_FORGET_FOLDERS = "DELETE FROM storage_folders"

_SELECT_COLUMNS = """
-- Columns that may hold URLs of files. Audit events stay unchanged.
SELECT c.table_name, c.column_name, c.udt_name
FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
WHERE table_schema = 'public' AND t.table_type = 'BASE TABLE' AND c.is_generated = 'NEVER'
    AND NOT starts_with(table_name, 'audit')
    AND (c.udt_name IN ('text', 'varchar', 'json', 'jsonb', '_text')
        OR c.udt_name = 'bytea' AND c.column_name = 'body')
"""

_REPLACE = """
SELECT format(
    'UPDATE %1$I SET %2$I = replace(%2$I::text, %4$L, %5$L)::%3$s'
    ' WHERE strpos(%2$I::text, %4$L) > 0',
    $1::text, $2::text, $3::text, $4::text, $5::text)
"""

_REPLACE_IN_BODIES = """
-- Messages are JSON in UTF-8.
SELECT format(
    'UPDATE %1$I SET %2$I = convert_to(replace(convert_from(%2$I, ''UTF8''), %3$L, %4$L), ''UTF8'')'
    ' WHERE strpos(convert_from(%2$I, ''UTF8''), %3$L) > 0',
    $1::text, $2::text, $3::text, $4::text)
"""


async def follow_moved_home(
    home: Home, databases: Sequence[str], url_of: Callable[[str], str]
) -> None:
    """Rewrite the URLs of the home's storages if they name another folder.

    The catalogue comes last, so that the next start repeats an interrupted rewrite. No service may
    run.

    Args:
        home: The home folder at its present place.
        databases: The names of the system's databases.
        url_of: Returns the URL of a database.
    """
    catalogue = await asyncpg.connect(url_of(_CATALOGUE))
    try:
        has_table = await catalogue.fetchval(_TABLE_EXISTS, "storages")
        url = await catalogue.fetchval(_SELECT_URL, FIRST_STORAGE) if has_table else None
    finally:
        await catalogue.close()
    ending = f"/{home.storages.name}/{StorageType.INPUT}"
    before = None if url is None else find_local_path(url)
    now = f"{build_local_url(home.storages)}/"
    if before is None or not before.endswith(ending):
        return
    old = f"{build_local_url(before.removesuffix(ending))}/{home.storages.name}/"
    if old == now:
        return
    log.warning("system.home_was_moved", before=old, now=now)
    for database in sorted(databases, key=lambda name: name == _CATALOGUE):
        connection = await asyncpg.connect(url_of(database))
        try:
            async with connection.transaction():
                # Triggers check only what services do.
                await connection.execute("SET LOCAL session_replication_role = replica")
                await _rewrite(connection, old, now)
        finally:
            await connection.close()


async def _rewrite(connection: "asyncpg.Connection[asyncpg.Record]", old: str, now: str) -> None:
    for table, column, kind in await connection.fetch(_SELECT_COLUMNS):
        if kind in {"text", "varchar"}:
            words = [old, now]
        else:  # JSON and arrays escape quotes and backslashes
            words = [json.dumps(word, ensure_ascii=False)[1:-1] for word in (old, now)]
        statement = await (
            connection.fetchval(_REPLACE_IN_BODIES, table, column, *words)
            if kind == "bytea"
            else connection.fetchval(_REPLACE, table, column, kind, *words)
        )
        await connection.execute(statement)
    if await connection.fetchval(_TABLE_EXISTS, "storage_folders"):
        await connection.execute(_FORGET_FOLDERS)
