"""Wires the operator service: the only file that names what it is made of."""

from sluice.clients.chains import ChainsClient
from sluice.clients.dms import DmsClient
from sluice.clients.intake import IntakeClient
from sluice.clients.wms import WmsClient
from sluice.servicekit.database import Database
from sluice.servicekit.gauges import Gauges
from sluice.servicekit.http import Health
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.migrate import Migrator
from sluice.servicekit.queue_admin import QueueDesk
from sluice.servicekit.sealing import Sealer
from sluice.servicekit.service import Service
from sluice.servicekit.service_clients import Links
from sluice.servicekit.transport.base import Transport
from wfms.operator.api.app import create_application
from wfms.operator.api.bridge import Bridge
from wfms.operator.loops.delete_assets import asset_deleter
from wfms.operator.loops.measure_queues import queue_gauges
from wfms.operator.loops.seal_anew import SealAnew
from wfms.operator.settings import OperatorSettings
from wfms.operator.usecases.compile_files import Compiler
from wfms.operator.usecases.context import OperatorContext

NAME = "wfms.operator"


def build(settings: OperatorSettings, *, links: Links, transport: Transport) -> Service:
    """This service neither sends nor receives messages; through ``transport`` people see the queues
    of the others."""
    metrics = ServiceMetrics()
    database = Database(settings.database_url, source=NAME)
    context = make_context(settings, database, links=links, transport=transport)
    health = Health({"database": database.ping})
    bridge = Bridge(settings.patience)
    app = create_application(context, settings, bridge=bridge, health=health, metrics=metrics)
    return Service(
        NAME,
        app,
        [
            Migrator(settings.database_url, "wfms.operator.db.migrations"),
            database,
            bridge,
            SealAnew(context),
            asset_deleter(context, metrics),
            Gauges(database, metrics, health=health.report),
            queue_gauges(context.queues, metrics),
        ],
        for_people=True,
        metrics=metrics,
    )


def make_context(
    settings: OperatorSettings, database: Database, *, links: Links, transport: Transport
) -> OperatorContext:
    others = {
        service: links.http(service) for service in ("dms", "wms", "wfms.chains", "wfms.intake")
    }
    return OperatorContext(
        database=database,
        compiler=Compiler(),
        chains=ChainsClient(others["wfms.chains"]),
        intake=IntakeClient(others["wfms.intake"]),
        dms=DmsClient(others["dms"]),
        wms=WmsClient(others["wms"]),
        queues=QueueDesk(transport),
        sealer=Sealer(settings.encryption_keys),
        others=others,
        files=links.http("dms", streams=True),
        log_preview=settings.log_preview,
        file_preview=settings.file_preview,
        asset_storage=settings.asset_storage,
    )
