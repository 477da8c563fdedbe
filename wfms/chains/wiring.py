"""The composition of the chain service: the only file that names all its parts."""

from datetime import timedelta
from functools import partial

from sluice.clients.dms import DmsClient
from sluice.clients.operator import OperatorClient
from sluice.clients.watcher import WatcherClient
from sluice.clients.wms import WmsClient
from sluice.servicekit.audit.chain import AuditChain
from sluice.servicekit.audit.router import router as audit_router
from sluice.servicekit.database import Database
from sluice.servicekit.gauges import Gauges
from sluice.servicekit.messages.outbox import OutboxRelay
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.migrate import Migrator
from sluice.servicekit.quotas.router import router as quotas_router
from sluice.servicekit.running.lifecycle import Component
from sluice.servicekit.running.loop import Loops
from sluice.servicekit.running.service import Service
from sluice.servicekit.running.service_clients import Links
from sluice.servicekit.transport.base import Transport
from sluice.servicekit.web.http import Health, create_app
from wfms.chains.api.attention import router as attention_router
from wfms.chains.api.chains import router as chains_router
from wfms.chains.api.dependencies import ChainsWakes
from wfms.chains.api.owners import ChainOwners
from wfms.chains.api.reruns import router as reruns_router
from wfms.chains.api.tasks import router as tasks_router
from wfms.chains.db.gauges import MEASUREMENTS
from wfms.chains.db.quotas import CHAINS
from wfms.chains.loops import START_STEPS, WORK_OF_CHANGES, declare_loops
from wfms.chains.settings import ChainsSettings
from wfms.chains.usecases.context import ChainsContext

NAME = "wfms.chains"
ROUTERS = (
    chains_router,
    reruns_router,
    tasks_router,
    attention_router,
    quotas_router,
    audit_router,
)


def build(settings: ChainsSettings, *, links: Links, transport: Transport) -> Service:
    """Create the chain service with its routes, loops and database."""
    metrics = ServiceMetrics()
    database = Database(settings.database_url, source=NAME, audited=True)
    context = ChainsContext(
        database=database,
        dms=DmsClient(links.http("dms")),
        wms=WmsClient(links.http("wms")),
        watcher=WatcherClient(links.http("wfms.watcher")),
        operator=OperatorClient(links.http("wfms.operator")),
        start_rules=settings.start_rules,
        keep_failed=timedelta(seconds=settings.keep_failed),
        cancel_again=timedelta(seconds=settings.cancel_again),
        watermark_rank=settings.watermark_rank,
    )
    loops = Loops(declare_loops(context, settings), metrics)
    wakes = ChainsWakes(
        change=partial(loops.wake, *WORK_OF_CHANGES), new_chain=partial(loops.wake, START_STEPS)
    )
    health = Health({"database": database.ping, "transport": transport.ping})
    app = create_app(
        NAME,
        ROUTERS,
        health=health,
        metrics=metrics,
        owners=ChainOwners(database),
        audit=database,
        provide=[context, wakes, database, CHAINS],
    )
    components: list[Component] = [
        Migrator(settings.database_url, "wfms.chains.db.migrations"),
        database,
        OutboxRelay(database, transport, metrics, keep=timedelta(seconds=settings.keep_sent)),
        AuditChain(database, metrics, keep=timedelta(days=settings.audit_days)),
        loops,
        Gauges(database, metrics, MEASUREMENTS, health=health.report),
    ]
    return Service(NAME, app, components, metrics=metrics)
