"""What the use cases of the watcher work with."""

from dataclasses import dataclass, field
from datetime import timedelta

from sluice.clients.chains import ChainsClient
from sluice.clients.dms import DmsClient
from sluice.clients.wms import WmsClient
from sluice.servicekit.database import Database


@dataclass(frozen=True, slots=True)
class FollowRules:
    """``hold``: how long a claim lasts. ``unknown_after``: a task that the WMS does not know after
    so long may never have been sent: the chain service is asked.
    """

    hold: timedelta = timedelta(seconds=10)
    unknown_after: timedelta = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class WatcherContext:
    """Made in ``wiring``; a use case that needs nothing but the watches takes the ``database``."""

    database: Database
    wms: WmsClient
    dms: DmsClient
    chains: ChainsClient
    rules: FollowRules = field(default_factory=FollowRules)
