"""Wiring of the task watcher: the only file that names all of its parts."""

from datetime import timedelta

from sluice.clients.chains import ChainsClient
from sluice.clients.dms import DmsClient
from sluice.clients.wms import WmsClient
from sluice.contracts.messaging.queues import WATCHER_WAKE
from sluice.servicekit.database import Database
from sluice.servicekit.gauges import Gauges
from sluice.servicekit.messages.consumer import WakeConsumer
from sluice.servicekit.messages.outbox import OutboxRelay
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.migrate import Migrator
from sluice.servicekit.running.lifecycle import Component
from sluice.servicekit.running.loop import Loops
from sluice.servicekit.running.service import Service
from sluice.servicekit.running.service_clients import Links
from sluice.servicekit.transport.base import Transport
from sluice.servicekit.web.http import Health, create_app
from wfms.watcher.api.dependencies import WatcherWakes
from wfms.watcher.api.watches import router as watches_router
from wfms.watcher.db.gauges import MEASUREMENTS
from wfms.watcher.loops import declare_loops
from wfms.watcher.settings import WatcherSettings
from wfms.watcher.usecases.context import WatcherContext

NAME = "wfms.watcher"


def build(settings: WatcherSettings, *, links: Links, transport: Transport) -> Service:
    """Return the service."""
    metrics = ServiceMetrics()
    database = Database(settings.database_url, source=NAME)
    context = WatcherContext(
        database=database,
        wms=WmsClient(links.http("wms")),
        dms=DmsClient(links.http("dms")),
        chains=ChainsClient(links.http("wfms.chains")),
        rules=settings.rules,
    )
    loops = Loops(declare_loops(context, settings), metrics)
    health = Health({"database": database.ping, "transport": transport.ping})
    app = create_app(
        NAME,
        [watches_router],
        health=health,
        metrics=metrics,
        provide=[database, WatcherWakes(upload=loops.wake)],
    )
    components: list[Component] = [
        Migrator(settings.database_url, "wfms.watcher.db.migrations"),
        database,
        OutboxRelay(database, transport, metrics, keep=timedelta(seconds=settings.keep_sent)),
        WakeConsumer(transport=transport, metrics=metrics, queue=WATCHER_WAKE, wake=loops.wake),
        loops,
        Gauges(database, metrics, MEASUREMENTS, health=health.report),
    ]
    return Service(NAME, app, components, metrics=metrics)
