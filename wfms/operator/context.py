"""The context of the use cases of the operator service."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import httpx
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import MovingWindowRateLimiter

from sluice.clients.ask import AskClient
from sluice.clients.audit import AuditClient
from sluice.clients.chains import ChainsClient
from sluice.clients.dms import DmsClient
from sluice.clients.intake import IntakeClient
from sluice.clients.wms import WmsClient
from sluice.servicekit.database import Database
from sluice.servicekit.messages.queue_admin import QueueAdmin
from sluice.servicekit.sealing import Sealer
from wfms.operator.identity.usecases.known_people import AccountAuthenticator
from wfms.operator.identity.usecases.passwords import Passwords
from wfms.operator.identity.usecases.sign_in import PasswordSignIn
from wfms.operator.templates.usecases.compile_files import Compiler


@dataclass(frozen=True, slots=True)
class OperatorContext:
    """The clients and settings that use cases need, built in ``wiring``.

    A use case that needs only one of them takes it as a parameter instead.

    Attributes:
        others: By service, the client for requests that are forwarded unchanged.
        audits: By service, the client that reads its audit log.
        files: The client for responses that are streamed from the DMS.
        answers: The client for responses that are streamed from the service of human tasks.
        log_preview: Maximum bytes of a log that are shown.
        file_preview: Maximum bytes of a file that are shown.
        asset_storage: The name of the storage for assets; empty for any.
        client_lease: The duration of a client lease, in seconds.
        device_login_tries: The counters of rate limits of device logins, of this instance alone.
    """

    database: Database
    compiler: Compiler
    chains: ChainsClient
    intake: IntakeClient
    dms: DmsClient
    wms: WmsClient
    ask: AskClient
    queues: QueueAdmin
    sealer: Sealer
    people: AccountAuthenticator
    passwords: Passwords
    password_sign_in: PasswordSignIn
    others: Mapping[str, httpx.AsyncClient]
    audits: Mapping[str, AuditClient]
    files: httpx.AsyncClient
    answers: httpx.AsyncClient
    log_preview: int
    file_preview: int
    asset_storage: str
    client_lease: float
    device_login_tries: MovingWindowRateLimiter = field(
        default_factory=lambda: MovingWindowRateLimiter(MemoryStorage())
    )
