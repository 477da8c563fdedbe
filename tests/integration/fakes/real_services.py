"""The real WMS and DMS: their applications on real databases, without loops and consumers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from dms.settings import DmsSettings
from dms.wiring import build as build_dms
from sluice.clients.dms import DmsClient
from sluice.clients.wms import WmsClient
from sluice.contracts.common.states import StorageType
from sluice.contracts.data.datasets import NewStorage
from sluice.servicekit.database import Database
from sluice.servicekit.messages.queue_topology import sluice_topology
from sluice.servicekit.running.lifecycle import running
from sluice.servicekit.running.service import Service
from sluice.servicekit.running.service_clients import ProcessLinks
from sluice.servicekit.transport.open import open_transport
from tests.conftest import DatabaseFactory
from tests.integration.wms.wms_fixture import WmsFixture
from wms.settings import WmsSettings
from wms.usecases.context import WmsContext, WmsRules
from wms.wiring import build as build_wms


@dataclass
class RealServices:
    """Clients of the services, and ways to change what the services store.

    ``work`` acts as the queue and as pilots. ``folder`` has a storage of each type.
    """

    wms: WmsClient
    dms: DmsClient
    work: WmsFixture
    catalogue: Database
    folder: Path


@asynccontextmanager
async def run_services(make: DatabaseFactory, folder: Path) -> AsyncIterator[RealServices]:
    """Run the services on new databases."""
    links = ProcessLinks()
    wms_url, dms_url = await make("wms.db.migrations"), await make("dms.db.migrations")
    wms = build_wms(
        WmsSettings(database_url=wms_url, broker_url=wms_url, look_at_outputs="no"),
        links=links,
        transport=open_transport(wms_url, sluice_topology()),
    )
    dms = build_dms(
        # The files of its data sets do not exist.
        DmsSettings(
            database_url=dms_url, broker_url=dms_url, storage_roots="/", verify_files=False
        ),
        links=links,
        transport=open_transport(dms_url, sluice_topology()),
    )
    links.apps.update(wms=wms.app, dms=dms.app)
    own = Database(wms_url, source="wms")
    async with running(links, open_database(wms), open_database(dms), own):
        services = RealServices(
            wms=WmsClient(links.http("wms")),
            dms=DmsClient(links.http("dms")),
            work=WmsFixture(WmsContext(own, rules=_RULES)),
            catalogue=open_database(dms),
            folder=folder,
        )
        for kind in StorageType:
            (folder / kind).mkdir()
            await services.dms.register_storage(
                NewStorage(name=f"{kind}-1", type=kind, url=f"file://{folder / kind}")
            )
        yield services


def open_database(service: Service) -> Database:
    """Return the database of a service that is not running."""
    return next(part for part in service.components if isinstance(part, Database))


#: Leases outlast every test.
_RULES = WmsRules(
    heartbeat=1.0,
    lease=300.0,
    grace=0.0,
    pilot_timeout=300.0,
    poll_period=0.05,
    max_node_losses=5,
    deadline_grace=300.0,
    fit_grace=30.0,
)
