"""A migration says what it does in its own words: it does the same for ever, whatever the code
around it becomes."""

import ast
import re
from pathlib import Path

import asyncpg
import pytest

from scripts.docs.services import SERVICES
from sluice.servicekit.migrate import Migrator
from tests.architecture.sources import PRODUCT, Source, imports, sources
from tests.conftest import DatabaseFactory

#: Columns and indexes of the tables of messages.
MESSAGING = """
SELECT table_name, column_name, data_type, is_nullable, column_default, is_identity
FROM information_schema.columns WHERE table_name IN ('outbox', 'inbox')
UNION ALL
SELECT tablename, indexname, indexdef, NULL, NULL, NULL
FROM pg_indexes WHERE tablename IN ('outbox', 'inbox')
ORDER BY 1, 2
"""


def borrowed(source: Source) -> list[str]:
    """What a migration takes from anywhere else than the tools that carry it out."""
    return [
        f"{source.at(node)}: imports {module}"
        for node, module in imports(source.tree)
        if module.partition(".")[0] not in {"alembic", "sqlalchemy"}
    ]


def test_migrations_import_nothing_that_can_change() -> None:
    files = [source for source in sources(*PRODUCT) if "migrations" in Path(source.name).parts]
    files = [source for source in files if re.match(r"\d{4}_", Path(source.name).name)]
    assert len(files) > 40, "the migrations were not found"
    assert not [finding for source in files for finding in borrowed(source)]


@pytest.mark.parametrize(
    "text",
    [
        "from sluice.contracts.states import JobState",
        "from wms.db.tasks import INSERT",
        "def upgrade():\n    from enum import StrEnum",
        "import sluice.servicekit.database",
    ],
)
def test_what_a_migration_borrows_is_found(text: str) -> None:
    assert borrowed(Source("wms/db/migrations/0099_x.py", ast.parse(text)))


async def test_every_service_has_the_same_tables_for_messages(
    make_database: DatabaseFactory,
) -> None:
    """Each makes its own; one code works on all."""
    found = {}
    for service in SERVICES:
        await Migrator(url := await make_database(), f"{service}.db.migrations").start()
        connection = await asyncpg.connect(url)
        try:
            found[service] = [tuple(row) for row in await connection.fetch(MESSAGING)]
        finally:
            await connection.close()
    assert len(found["dms"]) > 10
    assert [service for service in SERVICES if found[service] != found["dms"]] == []
