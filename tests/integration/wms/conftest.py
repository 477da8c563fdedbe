"""Provide a WMS on a fresh database for every test, and a DMS beside it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from dms.settings import DmsSettings
from dms.wiring import build as build_dms
from sluice.clients.dms import DmsClient
from sluice.contracts.common.states import StorageType
from sluice.contracts.data.datasets import NewStorage
from sluice.servicekit.database import Database
from sluice.servicekit.messages.queue_topology import sluice_topology
from sluice.servicekit.running.lifecycle import running
from sluice.servicekit.running.service_clients import ProcessLinks
from sluice.servicekit.transport.open import open_transport
from tests.conftest import DatabaseFactory
from tests.integration.wms.human_tasks import HumanTasks
from tests.integration.wms.transition_triggers import refuse_illegal_transitions
from tests.integration.wms.wms_fixture import WmsFixture
from wms.usecases.context import WmsContext, WmsRules

#: Leases outlast every test. Tests expire leases by hand.
RULES = WmsRules(
    heartbeat=1.0,
    lease=300.0,
    grace=0.0,
    pilot_timeout=300.0,
    poll_period=0.05,
    max_node_losses=5,
    deadline_grace=300.0,
    fit_grace=30.0,
)


@pytest.fixture
async def database_url(make_database: DatabaseFactory) -> str:
    """Return the URL of a new database of a WMS."""
    return await make_database("wms.db.migrations")


@pytest.fixture
async def wms(database_url: str) -> AsyncIterator[WmsFixture]:
    """Yield a WMS whose database refuses illegal state transitions."""
    database = Database(database_url, source="wms")
    async with running(database):
        async with database.connection() as connection:
            await refuse_illegal_transitions(connection)
        yield WmsFixture(WmsContext(database, rules=RULES))


@pytest.fixture
async def other_wms(wms: WmsFixture, database_url: str) -> AsyncIterator[WmsFixture]:
    """Yield another instance of the service on the same database."""
    database = Database(database_url, source="wms")
    async with running(database):
        yield WmsFixture(WmsContext(database, rules=RULES), tasks=wms.tasks)


@pytest.fixture
async def dms_and_database(
    make_database: DatabaseFactory, tmp_path: Path
) -> AsyncIterator[tuple[DmsClient, Database]]:
    url = await make_database("dms.db.migrations")
    links, transport = ProcessLinks(), open_transport(url, sluice_topology())
    # The files of its data sets do not exist.
    settings = DmsSettings(database_url=url, broker_url=url, storage_roots="/", verify_files=False)
    service = build_dms(settings, links=links, transport=transport)
    links.apps["dms"] = service.app
    database = next(part for part in service.components if isinstance(part, Database))
    async with running(links, database):
        client = DmsClient(links.http("dms"))
        await client.register_storage(
            NewStorage(name="in", type=StorageType.INPUT, url=f"file://{tmp_path}")
        )
        yield client, database


@pytest.fixture
def dms(dms_and_database: tuple[DmsClient, Database]) -> DmsClient:
    """Return the real DMS without background loops, with an input storage at ``tmp_path``."""
    return dms_and_database[0]


@pytest.fixture
def catalogue(dms_and_database: tuple[DmsClient, Database]) -> Database:
    """Return the database of the same DMS, for messages to it."""
    return dms_and_database[1]


@pytest.fixture
def human_tasks(wms: WmsFixture, dms: DmsClient, tmp_path: Path) -> HumanTasks:
    return HumanTasks(wms, dms, tmp_path)
