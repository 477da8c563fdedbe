"""The DMS, wired: the only file that names concrete adapters."""

from dms.api.datasets import datasets_router
from dms.api.runs import runs_router
from dms.api.storages import storages_router
from dms.consumers.queues import Wakes, queue_consumers
from dms.loops.closer import closer
from dms.settings import DmsSettings
from sluice.servicekit.database import Database
from sluice.servicekit.http import Health, create_app
from sluice.servicekit.links import Links
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.migrate import Migrator
from sluice.servicekit.outbox import OutboxRelay
from sluice.servicekit.service import Service
from sluice.servicekit.transport.base import Transport


def build(settings: DmsSettings, *, links: Links, transport: Transport) -> Service:
    """``transport`` is started and stopped by the caller. The DMS calls no other service, so it leaves ``links`` alone."""
    metrics = ServiceMetrics("dms")
    database = Database(settings.database_url, source="dms")
    close = closer(database, settings, metrics)
    wakes = Wakes(complete=close.wake, deletion=close.wake, upload=close.wake)
    routers = [
        datasets_router(database, on_complete=wakes.complete, on_deletion=wakes.deletion),
        storages_router(database),
        runs_router(database),
    ]
    health = Health({"database": database.ping, "transport": transport.ping})
    return Service(
        "dms",
        create_app("DMS", routers, health=health, metrics=metrics),
        [
            Migrator(settings.database_url, "dms.db.migrations"),
            database,
            OutboxRelay(database, transport, metrics),
            *queue_consumers(transport, database, metrics, wakes),
            close,
        ],
    )
