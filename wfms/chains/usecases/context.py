"""The context of the chain service's use cases."""

from dataclasses import dataclass, field
from datetime import timedelta

from sluice.clients.dms import DmsClient
from sluice.clients.operator import OperatorClient
from sluice.clients.watcher import WatcherClient
from sluice.clients.wms import WmsClient
from sluice.scheduling.backoff import pause_after
from sluice.servicekit.database import Database


@dataclass(frozen=True, slots=True)
class StartRules:
    """How steps are started.

    Attributes:
        claim_duration: How long a claim lasts.
        batch: Number of steps started at the same time.
        first_pause: Pause after the first start that failed. It doubles with each attempt.
        longest_pause: The longest such pause.
    """

    claim_duration: timedelta = timedelta(seconds=30)
    batch: int = 16
    first_pause: timedelta = timedelta(seconds=0.5)
    longest_pause: timedelta = timedelta(seconds=30)

    def pause(self, attempts: int) -> timedelta:
        """Return the pause after this many attempts."""
        first, longest_pause = self.first_pause.total_seconds(), self.longest_pause.total_seconds()
        return timedelta(seconds=pause_after(attempts, first=first, max_pause=longest_pause))


@dataclass(slots=True)
class WatermarkState:
    """The knowledge of this instance about the ranks that it has raised.

    Attributes:
        nothing_raised: Whether no rank is raised. False at first, because an earlier instance may
            have raised ranks.
    """

    nothing_raised: bool = False


@dataclass(frozen=True, slots=True)
class ChainsContext:
    """The clients and settings that use cases need.

    Use cases that need only the chains take the ``database``.

    Attributes:
        keep_failed: How long intermediate data of a chain that does not finish is kept.
        cancel_again: Time after which a task that has not stopped is asked again.
        watermark_rank: Added to the rank of tasks that free space on storages that fill up. 0:
            ranks do not change.
        watermark_state: The ranks that are raised.
    """

    database: Database
    dms: DmsClient
    wms: WmsClient
    watcher: WatcherClient
    operator: OperatorClient
    start_rules: StartRules = field(default_factory=StartRules)
    keep_failed: timedelta = timedelta(0)
    cancel_again: timedelta = timedelta(seconds=5)
    watermark_rank: float = 0.0
    watermark_state: WatermarkState = field(default_factory=WatermarkState)
