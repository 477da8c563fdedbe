"""What the use cases of the operator service work with."""

from collections.abc import Mapping
from dataclasses import dataclass

import httpx

from sluice.clients.ask import AskClient
from sluice.clients.audit import AuditClient
from sluice.clients.chains import ChainsClient
from sluice.clients.dms import DmsClient
from sluice.clients.intake import IntakeClient
from sluice.clients.wms import WmsClient
from sluice.servicekit.database import Database
from sluice.servicekit.queue_admin import QueueDesk
from sluice.servicekit.sealing import Sealer
from wfms.operator.usecases.change_accounts import ChangeAccounts
from wfms.operator.usecases.compile_files import Compiler
from wfms.operator.usecases.device_login import DeviceLogins
from wfms.operator.usecases.known_people import KnownPeople


@dataclass(frozen=True, slots=True)
class OperatorContext:
    """Made in ``wiring``; a use case that needs but one of these takes that.

    ``others``: service → client for requests that are passed on as they are. ``audits``: the same
    services, asked what they have noted. ``files``: to the
    DMS, for answers that are passed on while they come; ``answers``: likewise, to the service that
    asks people. ``log_preview``, ``file_preview``: most
    bytes of a log and of a file that are shown. ``asset_storage``: name of the storage that assets
    are put on; empty: any. ``client_lease``: seconds that a lease of a client lasts."""

    database: Database
    compiler: Compiler
    chains: ChainsClient
    intake: IntakeClient
    dms: DmsClient
    wms: WmsClient
    ask: AskClient
    queues: QueueDesk
    sealer: Sealer
    people: KnownPeople
    accounts: ChangeAccounts
    logins: DeviceLogins
    others: Mapping[str, httpx.AsyncClient]
    audits: Mapping[str, AuditClient]
    files: httpx.AsyncClient
    answers: httpx.AsyncClient
    log_preview: int
    file_preview: int
    asset_storage: str
    client_lease: float
