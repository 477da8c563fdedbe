"""What the use cases of the chain service work with."""

from dataclasses import dataclass, field
from datetime import timedelta

from sluice.backoff import pause_after
from sluice.clients.dms import DmsClient
from sluice.clients.operator import OperatorClient
from sluice.clients.watcher import WatcherClient
from sluice.clients.wms import WmsClient
from sluice.servicekit.database import Database


@dataclass(frozen=True, slots=True)
class StartRules:
    """``hold``: how long a claim lasts; ``batch``: steps started at the same time; pauses after a
    start that did not work double from ``first_pause`` to ``longest_pause``."""

    hold: timedelta = timedelta(seconds=30)
    batch: int = 16
    first_pause: timedelta = timedelta(seconds=0.5)
    longest_pause: timedelta = timedelta(seconds=30)

    def pause(self, attempts: int) -> timedelta:
        first, longest = self.first_pause.total_seconds(), self.longest_pause.total_seconds()
        return timedelta(seconds=pause_after(attempts, first=first, longest=longest))


@dataclass(frozen=True, slots=True)
class ChainsContext:
    """Made in ``wiring``; a use case that needs nothing but the chains takes the ``database``.

    ``keep_failed``: how long what lies between the steps of a chain stays when it does not finish.
    ``cancel_again``: how long a task gets to stop before it is asked again. ``relief_rank``: how
    much higher tasks are ranked that make room on storages which fill up; 0: none is."""

    database: Database
    dms: DmsClient
    wms: WmsClient
    watcher: WatcherClient
    operator: OperatorClient
    start_rules: StartRules = field(default_factory=StartRules)
    keep_failed: timedelta = timedelta(0)
    cancel_again: timedelta = timedelta(seconds=5)
    relief_rank: float = 0.0
