"""Construction of the WMS from its parts."""

from datetime import timedelta
from functools import partial

from sluice.clients.dms import DmsClient
from sluice.clients.operator import OperatorClient
from sluice.contracts.pilots.nodes import NodeResources
from sluice.servicekit.access.authentication import Authenticator
from sluice.servicekit.access.principal import PilotCaller
from sluice.servicekit.access.tokens import AuthenticatorChain, FixedTokens, PilotTokens
from sluice.servicekit.audit.chain import AuditChain
from sluice.servicekit.audit.router import router as audit_router
from sluice.servicekit.database import Database
from sluice.servicekit.gauges import Gauges
from sluice.servicekit.messages.outbox import OutboxRelay
from sluice.servicekit.migrate import Migrator
from sluice.servicekit.quotas.router import router as quotas_router
from sluice.servicekit.running.loop import Loops
from sluice.servicekit.running.service import Service
from sluice.servicekit.running.service_clients import Links
from sluice.servicekit.sealing import Sealer
from sluice.servicekit.transport.base import Transport
from sluice.servicekit.web.http import Health, create_app
from wms.api.human_tasks import router as human_tasks_router
from wms.api.limits import router as limits_router
from wms.api.owners import TaskOwners
from wms.api.pilot_protocol import PilotDependencies
from wms.api.pilot_protocol import router as pilot_protocol_router
from wms.api.pilots import router as pilots_router
from wms.api.shares import router as shares_router
from wms.api.sites import router as sites_router
from wms.api.steps import router as steps_router
from wms.api.tasks import jobs_router, work_router
from wms.api.tasks import router as tasks_router
from wms.api.times import router as times_router
from wms.consumers.ready_listener import ReadyListener
from wms.consumers.tasks import task_consumers, wake_consumer
from wms.db.tasks.quotas import WAITING
from wms.domain.placement.policies import create_policy
from wms.domain.scheduling.matching import PilotNode
from wms.domain.scheduling.rank import RankWeights
from wms.gauges import declare_gauges
from wms.loops import SPLIT, declare_loops
from wms.settings import WmsSettings
from wms.usecases.context import WmsContext, WmsRules
from wms.usecases.leasing.get_secrets import get_secrets
from wms.usecases.pilots.authenticate_pilots import PilotAuthenticator, RevokedSites
from wms.usecases.reports.check_outputs import OutputCheck

ROUTERS = (
    tasks_router,
    jobs_router,
    work_router,
    pilots_router,
    steps_router,
    limits_router,
    shares_router,
    sites_router,
    times_router,
    human_tasks_router,
    pilot_protocol_router,
    quotas_router,
    audit_router,
)


def build(settings: WmsSettings, *, links: Links, transport: Transport) -> Service:
    """Return the service, not started; the caller starts and stops the transport."""
    database = Database(
        settings.database_url, source="wms", audited=True,
        max_connections=settings.database_connections,
    )  # fmt: skip
    dms = DmsClient(links.http("dms"))
    context = WmsContext(
        database,
        rules=_read_rules(settings),
        launchable=_list_launchable_nodes(settings),
        output_check=_create_output_check(settings, dms),
        rank_weights=_read_rank_weights(settings),
        policy=create_policy(settings.placement, every=settings.place_pilots_period),
    )
    loops = Loops(declare_loops(context, dms, settings), context.metrics)
    wake = partial(loops.wake, SPLIT)
    context.signal.wake_splitting = wake
    health = Health({"database": database.ping, "transport": transport.ping})
    operator, sealer = OperatorClient(links.http("wfms.operator")), Sealer(settings.encryption_keys)
    get_job_secrets = partial(get_secrets, context, operator, sealer)
    tokens, revoked = _create_pilot_tokens(settings), RevokedSites(database)
    pilots = PilotDependencies(dms, get_job_secrets, tokens, revoked)
    return Service(
        name="wms",
        app=create_app(
            "wms",
            ROUTERS,
            health=health,
            metrics=context.metrics,
            owners=TaskOwners(database),
            audit=database,
            provide=[context, pilots, database, WAITING],
        ),
        components=[
            Migrator(settings.database_url, "wms.db.migrations"),
            database,
            OutboxRelay(
                database, transport, context.metrics, keep=timedelta(seconds=settings.keep_sent)
            ),
            AuditChain(database, context.metrics, keep=timedelta(days=settings.audit_days)),
            ReadyListener(settings.database_url, context.signal),
            loops,
            *task_consumers(context, transport, on_applied=wake),
            wake_consumer(context, transport, wake=wake),
            Gauges(database, context.metrics, declare_gauges(context), health=health.report),
        ],
        end_waiting=context.signal.close,
        authenticator=_create_pilot_authenticator(
            settings, database, tokens, revoked_sites=revoked
        ),
        metrics=context.metrics,
    )


def _create_pilot_tokens(settings: WmsSettings) -> PilotTokens | None:
    keys = settings.pilot_keys
    if keys is None:
        return None
    return PilotTokens([key.strip() for key in keys.get_secret_value().split(",") if key.strip()])


def _create_pilot_authenticator(
    settings: WmsSettings,
    database: Database,
    tokens: PilotTokens | None,
    *,
    revoked_sites: RevokedSites,
) -> Authenticator | None:
    """Return the authenticator of registering and of registered pilots, if any."""
    registering = settings.pilot_token
    authenticators: list[Authenticator] = (
        [] if tokens is None else [PilotAuthenticator(database, tokens, revoked_sites)]
    )
    if registering is not None:
        authenticators.append(FixedTokens({registering.get_secret_value(): PilotCaller()}))
    return AuthenticatorChain(authenticators) if authenticators else None


def _read_rank_weights(settings: WmsSettings) -> RankWeights:
    return RankWeights(settings.rank_alpha, settings.rank_beta, settings.rank_gamma)


def _read_rules(settings: WmsSettings) -> WmsRules:
    return WmsRules(
        heartbeat=settings.heartbeat,
        lease=settings.lease,
        grace=settings.lease_grace,
        pilot_timeout=settings.pilot_timeout,
        poll_period=settings.poll_period,
        max_node_losses=settings.max_node_losses,
        deadline_grace=settings.deadline_grace,
        fit_grace=settings.fit_grace,
    )


def _create_output_check(settings: WmsSettings, dms: DmsClient) -> OutputCheck | None:
    how = settings.look_at_outputs
    return None if how == "no" else OutputCheck(dms, content=how == "content")


def _list_launchable_nodes(settings: WmsSettings) -> list[PilotNode] | None:
    if settings.launchable is None:
        return None
    return [
        PilotNode(
            NodeResources(
                cores=node.cores,
                ram=node.ram,
                disk=node.disk,
                gpus=["GPU"] * node.gpus,
                named=node.resources,
                labels=node.labels,
            ),
            node.containers,
            node.sandbox,
        )
        for node in settings.launchable
    ]
