"""Assets in the real operator service, DMS and chain service."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sluice.servicekit.messages.queue_topology import sluice_topology
from sluice.servicekit.running.lifecycle import running
from sluice.servicekit.transport.open import open_transport
from tests.conftest import DatabaseFactory
from tests.integration.assets.asset_services import Assets
from tests.integration.wfms.wfms_fixture import WfmsFixture
from wfms.operator.settings import OperatorSettings
from wfms.operator.wiring import build


@pytest.fixture
async def assets(make_database: DatabaseFactory, tmp_path: Path) -> AsyncIterator[Assets]:
    wfms = WfmsFixture(tmp_path)
    await wfms.open(make_database)
    url = await make_database("wfms.operator.db.migrations")
    settings = OperatorSettings(database_url=url, broker_url=url, patience=30)
    transport = open_transport(url, sluice_topology())
    service = build(settings, links=wfms.links.of("wfms.operator"), transport=transport)
    wfms.links.apps["wfms.operator"] = service.app
    async with running(transport, service):
        yield Assets(wfms, service.app, settings, transport)
    await wfms.close()
