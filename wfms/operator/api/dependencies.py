"""What the views work with; made in ``wiring``."""

from collections.abc import Mapping
from dataclasses import dataclass

import httpx

from sluice.clients.chains import ChainsClient
from sluice.clients.dms import DmsClient
from sluice.clients.intake import IntakeClient
from sluice.clients.wms import WmsClient
from sluice.servicekit.database import Database
from sluice.servicekit.queues import QueueDesk
from wfms.operator.settings import OperatorSettings
from wfms.operator.usecases.compile_files import Compiler


@dataclass(frozen=True, slots=True)
class Dependencies:
    """``others``: service → client for requests that are passed on as they are. ``files``: to the
    DMS, for answers that are passed on while they come."""

    settings: OperatorSettings
    database: Database
    compiler: Compiler
    chains: ChainsClient
    intake: IntakeClient
    dms: DmsClient
    wms: WmsClient
    queues: QueueDesk
    others: Mapping[str, httpx.AsyncClient]
    files: httpx.AsyncClient
