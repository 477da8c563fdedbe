"""A migration does the same forever: it does not depend on code that changes."""

import ast
import re
from pathlib import Path

import asyncpg
import pytest

from sluice.contracts.access.services import SERVICES
from sluice.servicekit.migrate import Migrator
from tests.architecture.sources import PRODUCT, Source, list_imports, list_sources
from tests.conftest import DatabaseFactory

#: Columns, indexes and triggers of tables that the same code uses in all services.
SHARED_TABLES = """
SELECT table_name, column_name, data_type, is_nullable, column_default, is_identity
FROM information_schema.columns WHERE table_name = ANY($1::text[])
UNION ALL
SELECT tablename, indexname, indexdef, NULL, NULL, NULL
FROM pg_indexes WHERE tablename = ANY($1::text[])
UNION ALL
SELECT tgrelid::regclass::text, tgname, pg_get_triggerdef(oid), prosrc, NULL, NULL
FROM pg_trigger CROSS JOIN LATERAL (SELECT prosrc FROM pg_proc WHERE pg_proc.oid = tgfoid) AS does
WHERE tgrelid::regclass::text = ANY($1::text[])
ORDER BY 1, 2
"""
#: Migrations import these. ``sql_file`` only executes the SQL file beside a migration.
ALLOWED = {"alembic", "pathlib", "sqlalchemy", "sluice.servicekit.migrations.sql_file"}
MESSAGING, AUDIT = ["outbox", "inbox"], ["audit", "audit_chain", "audit_forgotten"]


def list_borrowed_imports(source: Source) -> list[str]:
    """Return the imports of a migration other than the allowed ones."""
    return [
        f"{source.at(node)}: imports {module}"
        for node, module in list_imports(source)
        if module not in ALLOWED and module.partition(".")[0] not in ALLOWED
    ]


def test_migrations_import_only_migration_libraries() -> None:
    files = [source for source in list_sources(*PRODUCT) if "migrations" in Path(source.name).parts]
    files = [source for source in files if re.match(r"\d{4}_", Path(source.name).name)]
    assert len(files) >= len(SERVICES), "the migrations were not found"
    assert not [finding for source in files for finding in list_borrowed_imports(source)]


@pytest.mark.parametrize(
    "text",
    [
        "from sluice.contracts.common.states import JobState",
        "from wms.db.tasks.tasks import INSERT",
        "def upgrade():\n    from enum import StrEnum",
        "import sluice.servicekit.database",
    ],
)
def test_import_of_product_code_in_a_migration_is_found(text: str) -> None:
    assert list_borrowed_imports(Source("wms/db/migrations/0099_x.py", ast.parse(text)))


@pytest.mark.parametrize(
    ("tables", "services"),
    [(MESSAGING, SERVICES), (AUDIT, [one for one in SERVICES if one.audited])],
)
async def test_services_have_equal_tables_for_shared_code(
    tables: list[str], services: list[str], make_database: DatabaseFactory
) -> None:
    """Each service creates its own tables. The watcher has no audit log."""
    rows_by_service = {}
    for service in services:
        await Migrator(url := await make_database(), f"{service}.db.migrations").start()
        connection = await asyncpg.connect(url)
        try:
            rows_by_service[service] = [
                tuple(row) for row in await connection.fetch(SHARED_TABLES, tables)
            ]
        finally:
            await connection.close()
    assert len(rows_by_service["dms"]) > 10
    assert [
        service for service in services if rows_by_service[service] != rows_by_service["dms"]
    ] == []
