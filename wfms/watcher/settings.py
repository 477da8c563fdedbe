"""Settings of the task watcher."""

from datetime import timedelta

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from sluice.contracts.access.services import CallingService
from sluice.servicekit.settings import ServiceSettings
from wfms.watcher.usecases.context import FollowRules


class WatcherSettings(ServiceSettings):
    """The settings from ``SLUICE_WATCHER_…``; times in seconds."""

    model_config = SettingsConfigDict(env_prefix="SLUICE_WATCHER_")

    port: int = CallingService.WATCHER.port
    #: Seconds between two rounds over all watches; events start a round sooner.
    period: float = Field(default=2.0, gt=0)
    #: How long a claim on a page of watches lasts. Then another instance takes over from one that
    #: died.
    claim_duration: float = Field(default=10.0, ge=0)
    #: Seconds after which the chain service is asked about a task that the WMS does not know: it
    #: may never have been sent.
    unknown_after: float = Field(default=30.0, ge=0)

    @property
    def rules(self) -> FollowRules:
        """Return the rules of the use cases."""
        return FollowRules(
            claim_duration=timedelta(seconds=self.claim_duration),
            unknown_after=timedelta(seconds=self.unknown_after),
        )
