"""A WMS on a fresh database for every test."""

from collections.abc import AsyncIterator

import pytest

from sluice.servicekit.database import Database
from sluice.servicekit.lifecycle import running
from sluice.servicekit.migrate import Migrator
from tests.integration.wms.stage import Stage
from wms.usecases.workload import Terms, Workload

#: Leases that no test outlasts: those that have to run out are put into the past by hand.
TERMS = Terms(heartbeat=1.0, lease=300.0, grace=0.0, unseen=300.0, poll=0.05, losses=5)


@pytest.fixture
async def stage(database_url: str) -> AsyncIterator[Stage]:
    database = Database(database_url, source="wms")
    async with running(Migrator(database_url, "wms.db.migrations"), database):
        yield Stage(Workload(database, terms=TERMS))


@pytest.fixture
async def second(stage: Stage, database_url: str) -> AsyncIterator[Stage]:
    """Another instance of the service on the same database."""
    database = Database(database_url, source="wms")
    async with running(database):
        yield Stage(Workload(database, terms=TERMS), tasks=stage.tasks)
