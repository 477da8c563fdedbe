"""A real WMS behind the operator service, in place of the fake one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sluice.servicekit.messages.queue_topology import sluice_topology
from sluice.servicekit.running.lifecycle import running
from sluice.servicekit.transport.open import open_transport
from tests.conftest import DatabaseFactory
from tests.integration.operator.conftest import Operator
from wms.settings import WmsSettings
from wms.wiring import build


@asynccontextmanager
async def use_real_wms(operator: Operator, make_database: DatabaseFactory) -> AsyncIterator[None]:
    """Let the operator service call a WMS on a new database."""
    url = await make_database("wms.db.migrations")
    settings = WmsSettings(database_url=url, broker_url=url, pilot_keys="one that signs")
    transport = open_transport(url, sluice_topology())
    service = build(settings, links=operator.links, transport=transport)
    operator.links.apps["wms"] = service.app
    async with running(transport, service):
        yield
