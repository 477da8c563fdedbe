"""The wiring of the DMS: the only file that names concrete adapters."""

from datetime import timedelta
from functools import partial

from dms.api.append_only import router as append_only_router
from dms.api.asset_datasets import router as asset_datasets_router
from dms.api.content import router as content_router
from dms.api.datasets import router as datasets_router
from dms.api.datasets import stalled_router
from dms.api.files import check_router
from dms.api.files import router as files_router
from dms.api.owners import DatasetOwners
from dms.api.pieces import router as pieces_router
from dms.api.runs import router as runs_router
from dms.api.storages import router as storages_router
from dms.consumers.commands import queue_consumers
from dms.db.quotas import DATA
from dms.gauges import declare_gauges
from dms.loops import CLOSE, DELETE, RELEASE, UPLOAD, declare_loops
from dms.settings import DmsSettings
from dms.usecases.context import DmsContext
from dms.usecases.files.file_reads import FileReads
from dms.usecases.files.file_work import FileWork
from dms.usecases.storages.storage_monitor import StorageMonitor
from dms.usecases.wakes import DmsWakes
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

#: Planner settings for the statements of the DMS, which all look rows up by index. A cached plan
#: from a time of small tables would scan whole tables once a burst of files has filled them.
#: Registration then slowed down to a third within 100 000 files; a new plan costs a fraction of a
#: millisecond. Without bitmap scans, a page of files is read in the order of its index. With them,
#: all files of the data set are sorted for each page.
PLANNING = {
    "plan_cache_mode": "force_custom_plan",
    "enable_seqscan": "off",
    "enable_bitmapscan": "off",
    "jit": "off",
}

ROUTERS = (
    datasets_router,
    stalled_router,
    asset_datasets_router,
    files_router,
    check_router,
    append_only_router,
    pieces_router,
    content_router,
    storages_router,
    runs_router,
    quotas_router,
    audit_router,
)


def build(settings: DmsSettings, *, links: Links, transport: Transport) -> Service:
    """Build the DMS, which calls no other service; the caller starts and stops ``transport``."""
    metrics = ServiceMetrics()
    database = Database(settings.database_url, source="dms", settings=PLANNING, audited=True)
    context = make_context(settings, database)
    loops = Loops(declare_loops(context, settings), metrics)
    wakes = DmsWakes(
        complete=partial(loops.wake, CLOSE),
        release=partial(loops.wake, RELEASE),
        deletion=partial(loops.wake, DELETE),
        upload=partial(loops.wake, UPLOAD),
        resumption=loops.wake,
    )
    health = Health({"database": database.ping, "transport": transport.ping})
    components: list[Component] = [
        Migrator(settings.database_url, "dms.db.migrations"),
        database,
        OutboxRelay(database, transport, metrics, keep=timedelta(seconds=settings.keep_sent)),
        AuditChain(database, metrics, keep=timedelta(days=settings.audit_days)),
        context.files,
        context.reads,
        context.storage_monitor,
        *queue_consumers(transport, database, metrics=metrics, wakes=wakes),
        loops,
        Gauges(
            database,
            metrics,
            declare_gauges(context.storage_monitor.free_now),
            health=health.report,
        ),
    ]
    return Service(
        "dms",
        create_app(
            "DMS",
            ROUTERS,
            health=health,
            metrics=metrics,
            owners=DatasetOwners(database),
            audit=database,
            provide=[context, wakes, database, DATA],
        ),
        components,
        for_people=True,
        metrics=metrics,
    )


def make_context(settings: DmsSettings, database: Database) -> DmsContext:
    """Build the context of the use cases."""
    files = FileWork(copies=settings.parallel_copies, removals=settings.parallel_removals)
    return DmsContext(
        database=database,
        files=files,
        reads=FileReads(settings.parallel_reads),
        storage_monitor=StorageMonitor(database, files, settings.roots, settings.exclusions),
        verify_files=settings.verify_files,
        claim_seconds=settings.claim_seconds,
        max_backoff_seconds=settings.max_backoff_seconds,
        sweep_again_seconds=settings.sweep_again_seconds,
    )
