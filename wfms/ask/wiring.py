"""Wiring of the service for human tasks: the only file that names all of its parts."""

from datetime import timedelta

from sluice.clients.wms import WmsClient
from sluice.servicekit.audit.chain import AuditChain
from sluice.servicekit.audit.router import router as audit_router
from sluice.servicekit.database import Database
from sluice.servicekit.gauges import Gauges
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.migrate import Migrator
from sluice.servicekit.running.lifecycle import Component
from sluice.servicekit.running.loop import Loops
from sluice.servicekit.running.service import Service
from sluice.servicekit.running.service_clients import Links
from sluice.servicekit.transport.base import Transport
from sluice.servicekit.web.http import Health, create_app
from wfms.ask.api.annotation import router as annotation_router
from wfms.ask.api.browser_rate import BrowserRate
from wfms.ask.api.dependencies import PublicAddress
from wfms.ask.api.links import router as links_router
from wfms.ask.api.supervision import router as supervision_router
from wfms.ask.db.gauges import MEASUREMENTS
from wfms.ask.loops import declare_loops
from wfms.ask.settings import AskSettings
from wfms.ask.usecases.context import AskContext

NAME = "wfms.ask"
ROUTERS = (annotation_router, supervision_router, links_router, audit_router)


def build(settings: AskSettings, *, links: Links, transport: Transport) -> Service:
    """Return the service."""
    metrics = ServiceMetrics()
    database = Database(settings.database_url, source=NAME, audited=True)
    context = AskContext(database, WmsClient(links.http("wms")), settings.rules)
    rate = BrowserRate(
        requests=settings.requests_of_a_browser, newcomers=settings.browsers_of_an_address
    )
    health = Health({"database": database.ping, "transport": transport.ping})
    address = PublicAddress(settings.public_url.rstrip("/"))
    app = create_app(
        NAME,
        ROUTERS,
        health=health,
        metrics=metrics,
        audit=database,
        provide=[context, rate, address, database],
    )

    components: list[Component] = [
        Migrator(settings.database_url, "wfms.ask.db.migrations"),
        database,
        AuditChain(database, metrics, keep=timedelta(days=settings.audit_days)),
        Loops(declare_loops(context, settings), metrics),
        Gauges(database, metrics, MEASUREMENTS, health=health.report),
    ]
    return Service(NAME, app, components, metrics=metrics)
