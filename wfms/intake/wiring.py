"""The composition of the intake: the only file that names all its parts."""

from datetime import timedelta
from functools import partial

from sluice.clients.chains import ChainsClient
from sluice.clients.dms import DmsClient
from sluice.clients.operator import OperatorClient
from sluice.contracts.messages import INTAKE_WAKE
from sluice.servicekit.audit.chain import AuditChain
from sluice.servicekit.audit.router import audit_router
from sluice.servicekit.database import Database
from sluice.servicekit.gauges import Gauges
from sluice.servicekit.messages.consumer import WakeConsumer
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.migrate import Migrator
from sluice.servicekit.running.lifecycle import Component
from sluice.servicekit.running.loop import Loop
from sluice.servicekit.running.service import Service
from sluice.servicekit.running.service_clients import Links
from sluice.servicekit.transport.base import Transport
from sluice.servicekit.web.http import Health, create_app
from wfms.intake.api.schedules import schedules_router
from wfms.intake.api.unmatched import unmatched_router
from wfms.intake.db.gauges import MEASUREMENTS
from wfms.intake.settings import IntakeSettings
from wfms.intake.usecases.context import IntakeContext
from wfms.intake.usecases.match_datasets import match_datasets
from wfms.intake.usecases.start_chains import start_chains
from wfms.intake.usecases.start_due import start_due

NAME = "wfms.intake"
#: Interval in seconds at which decisions that wait for the chain service are looked for.
HAND_OVER_PERIOD = 1.0


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
        hold=timedelta(seconds=settings.hold),
        longest_pause=timedelta(seconds=settings.longest_pause),
        generations=settings.generations,
    )
    hand_over = partial(start_chains, context)
    handing_over = Loop("intake.hand_over", hand_over, period=HAND_OVER_PERIOD, metrics=metrics)

    async def take_in() -> bool:
        is_page_full = await match_datasets(context)
        handing_over.wake()
        return is_page_full

    taking_in = Loop("intake.take_in", take_in, period=settings.period, metrics=metrics)
    starting = Loop(
        "intake.start_due", partial(start_due, context), period=settings.period, metrics=metrics
    )
    health = Health({"database": database.ping, "transport": transport.ping})
    app = create_app(
        NAME,
        [
            unmatched_router(context, wake=handing_over.wake),
            schedules_router(context),
            audit_router(database),
        ],
        health=health,
        metrics=metrics,
        audit=database,
    )
    components: list[Component] = [
        Migrator(settings.database_url, "wfms.intake.db.migrations"),
        database,
        AuditChain(database, metrics, keep=timedelta(days=settings.audit_days)),
        handing_over,
        taking_in,
        starting,
        WakeConsumer(transport=transport, metrics=metrics, queue=INTAKE_WAKE, wake=taking_in.wake),
        Gauges(database, metrics, MEASUREMENTS, health=health.report),
    ]
    return Service(NAME, app, components, metrics=metrics)
