"""Wiring of the operator service: the only file that names all of its parts."""

from datetime import timedelta

from httpx import AsyncClient

from sluice.clients.ask import AskClient
from sluice.clients.audit import AuditClient
from sluice.clients.chains import ChainsClient
from sluice.clients.dms import DmsClient
from sluice.clients.intake import IntakeClient
from sluice.clients.wms import WmsClient
from sluice.contracts.access.access import Role
from sluice.contracts.access.services import SERVICES, CallingService
from sluice.servicekit.access.account_authentication import AccountAuthentication
from sluice.servicekit.access.principal import Person
from sluice.servicekit.access.tokens import FixedTokens
from sluice.servicekit.audit.chain import AuditChain
from sluice.servicekit.database import Database
from sluice.servicekit.gauges import Gauges
from sluice.servicekit.messages.queue_admin import QueueAdmin
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.migrate import Migrator
from sluice.servicekit.running.loop import Loops
from sluice.servicekit.running.service import Service
from sluice.servicekit.running.service_clients import Links
from sluice.servicekit.sealing import Sealer
from sluice.servicekit.transport.base import Transport
from sluice.servicekit.web.http import Health
from wfms.operator.context import OperatorContext
from wfms.operator.gateway.api.app import create_application
from wfms.operator.gauges import declare_gauges
from wfms.operator.http.bridge import Bridge
from wfms.operator.identity.usecases.known_people import AccountAuthenticator
from wfms.operator.identity.usecases.openid_provider import OpenIdProvider
from wfms.operator.identity.usecases.passwords import Passwords
from wfms.operator.identity.usecases.provider_accounts import ProviderAccounts
from wfms.operator.identity.usecases.sign_in import PasswordSignIn
from wfms.operator.loops import declare_loops
from wfms.operator.settings import OperatorSettings, secret_key
from wfms.operator.templates.usecases.compile_files import Compiler

NAME = "wfms.operator"
#: Name of the principal with the administrator's token. No account can have this name.
ADMINISTRATOR = "the administrator"


def build(settings: OperatorSettings, *, links: Links, transport: Transport) -> Service:
    """Return the operator service.

    The service neither sends nor receives messages. People see the queues of the other services
    through ``transport``.
    """
    metrics = ServiceMetrics()
    database = Database(settings.database_url, source=NAME, audited=True)
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
            AuditChain(database, metrics, keep=timedelta(days=settings.audit_days)),
            bridge,
            context.compiler,
            Loops(declare_loops(context, settings), metrics),
            Gauges(database, metrics, declare_gauges(context.queues), health=health.report),
        ],
        account_authentication=_account_authentication(settings, context),
        for_people=True,
        metrics=metrics,
    )


def _account_authentication(
    settings: OperatorSettings, context: OperatorContext
) -> AccountAuthentication:
    oidc = settings.oidc
    return AccountAuthentication(
        context.people,
        ProviderAccounts(context.database, OpenIdProvider(oidc), oidc) if oidc.issuer else None,
        secret_key=secret_key(settings),
        public_url=settings.public_url,
        secure_cookies=settings.secure_cookies,
        requests_per_minute=settings.requests_a_minute,
    )


def make_context(
    settings: OperatorSettings, database: Database, *, links: Links, transport: Transport
) -> OperatorContext:
    """Return the context of the use cases."""
    others: dict[str, AsyncClient] = {
        service: links.http(service)
        for service in SERVICES
        if service.audited and service is not CallingService.OPERATOR
    }
    passwords = Passwords()
    sign_in = PasswordSignIn(database, passwords)
    return OperatorContext(
        database=database,
        compiler=Compiler(),
        chains=ChainsClient(others["wfms.chains"]),
        intake=IntakeClient(others["wfms.intake"]),
        dms=DmsClient(others["dms"]),
        wms=WmsClient(others["wms"]),
        ask=AskClient(others["wfms.ask"]),
        queues=QueueAdmin(transport),
        sealer=Sealer(settings.encryption_keys),
        people=AccountAuthenticator(database, sign_in, _own_token(settings)),
        passwords=passwords,
        password_sign_in=sign_in,
        others=others,
        audits={service: AuditClient(http) for service, http in others.items()},
        files=links.http("dms", streams=True),
        answers=links.http("wfms.ask", streams=True),
        log_preview=settings.log_preview,
        file_preview=settings.file_preview,
        asset_storage=settings.asset_storage,
        client_lease=settings.client_lease,
    )


def _own_token(settings: OperatorSettings) -> FixedTokens:
    token = settings.admin_token
    own = {} if token is None else {token.get_secret_value(): Person(ADMINISTRATOR, Role.ADMIN)}
    return FixedTokens(own)
