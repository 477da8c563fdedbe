"""A home folder of an earlier version is refused and not changed."""

import asyncio

import asyncpg
import pytest

from sluice.embedded.home import Home
from sluice.embedded.postgres import EmbeddedPostgres
from sluice.embedded.system import EmbeddedSystem, SystemOptions
from tests.e2e.systems import open_home_folder

SCHEMA = "dms0001"


async def make_older_home(home: Home) -> None:
    """Make a home whose catalogue has a schema that no revision knows."""
    postgres = EmbeddedPostgres(home.database, ["dms"])
    home.open()
    await postgres.start()
    connection = await asyncpg.connect(postgres.url("dms"))
    await connection.execute(f"CREATE TABLE alembic_version AS SELECT '{SCHEMA}' AS version_num")
    await connection.close()
    await postgres.stop()
    home.close()


def test_home_of_an_earlier_version_is_refused_in_one_sentence() -> None:
    with open_home_folder() as root:
        asyncio.run(make_older_home(Home(root)))
        with pytest.raises(OSError, match=f"{root} was made by an earlier version.*{SCHEMA}"):
            asyncio.run(EmbeddedSystem(Home(root), SystemOptions(port=0, pilots=0)).start())
