"""The composition of the intake: the only file that names all its parts."""

from datetime import timedelta
from functools import partial

from sluice.clients.chains import ChainsClient
from sluice.clients.dms import DmsClient
from sluice.clients.operator import OperatorClient
from sluice.contracts.messaging.queues import INTAKE_WAKE
from sluice.servicekit.audit.chain import AuditChain
from sluice.servicekit.audit.router import router as audit_router
from sluice.servicekit.database import Database
from sluice.servicekit.gauges import Gauges
from sluice.servicekit.messages.consumer import WakeConsumer
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.migrate import Migrator
from sluice.servicekit.running.lifecycle import Component
from sluice.servicekit.running.loop import Loops
from sluice.servicekit.running.service import Service
from sluice.servicekit.running.service_clients import Links
from sluice.servicekit.transport.base import Transport
from sluice.servicekit.web.http import Health, create_app
from wfms.intake.api.dependencies import IntakeWakes
from wfms.intake.api.schedules import router as schedules_router
from wfms.intake.api.unmatched import router as unmatched_router
from wfms.intake.db.gauges import MEASUREMENTS
from wfms.intake.loops import MATCH_DATASETS, START_CHAINS, declare_loops
from wfms.intake.settings import IntakeSettings
from wfms.intake.usecases.context import IntakeContext

NAME = "wfms.intake"
ROUTERS = (unmatched_router, schedules_router, audit_router)


def build(settings: IntakeSettings, *, links: Links, transport: Transport) -> Service:
    """Create the intake with its routes, loops and database."""
    metrics = ServiceMetrics()
    database = Database(settings.database_url, source=NAME, audited=True)
    context = IntakeContext(
        database=database,
        dms=DmsClient(links.http("dms")),
        operator=OperatorClient(links.http("wfms.operator")),
        chains=ChainsClient(links.http("wfms.chains")),
        page=settings.page,
        claim_duration=timedelta(seconds=settings.claim_duration),
        longest_pause=timedelta(seconds=settings.longest_pause),
        generations=settings.generations,
    )
    loops = Loops(declare_loops(context, settings), metrics)
    match, start = partial(loops.wake, MATCH_DATASETS), partial(loops.wake, START_CHAINS)
    health = Health({"database": database.ping, "transport": transport.ping})
    app = create_app(
        NAME,
        ROUTERS,
        health=health,
        metrics=metrics,
        audit=database,
        provide=[context, IntakeWakes(start), database],
    )
    components: list[Component] = [
        Migrator(settings.database_url, "wfms.intake.db.migrations"),
        database,
        AuditChain(database, metrics, keep=timedelta(days=settings.audit_days)),
        loops,
        WakeConsumer(transport=transport, metrics=metrics, queue=INTAKE_WAKE, wake=match),
        Gauges(database, metrics, MEASUREMENTS, health=health.report),
    ]
    return Service(NAME, app, components, metrics=metrics)
