"""The context of the use cases of the watcher."""

from dataclasses import dataclass, field
from datetime import timedelta

from sluice.clients.chains import ChainsClient
from sluice.clients.dms import DmsClient
from sluice.clients.wms import WmsClient
from sluice.servicekit.database import Database


@dataclass(frozen=True, slots=True)
class FollowRules:
    """Rules for following watches.

    Attributes:
        claim_duration: How long a claim lasts.
        unknown_after: After this time the chain service is asked about a task that the WMS does not
            know, because it may never have been sent.
    """

    claim_duration: timedelta = timedelta(seconds=10)
    unknown_after: timedelta = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class WatcherContext:
    """The context; use cases that need nothing but the watches take the ``database``."""

    database: Database
    wms: WmsClient
    dms: DmsClient
    chains: ChainsClient
    rules: FollowRules = field(default_factory=FollowRules)
