"""Settings of the task watcher."""

from datetime import timedelta

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from sluice.servicekit.settings import ServiceSettings
from wfms.watcher.usecases.context import FollowRules


class WatcherSettings(ServiceSettings):
    """``SLUICE_WATCHER_…``; times in seconds."""

    model_config = SettingsConfigDict(env_prefix="SLUICE_WATCHER_")

    port: int = 8084
    #: How often everything is looked at; events make it sooner.
    period: float = Field(default=2.0, gt=0)
    #: How long one instance may be at a page of watches before another takes over (were it killed).
    hold: float = Field(default=10.0, ge=0)
    #: A task that the WMS does not know after so long may never have been sent: the chain service
    #: is asked.
    unknown_after: float = Field(default=30.0, ge=0)

    @property
    def rules(self) -> FollowRules:
        return FollowRules(
            hold=timedelta(seconds=self.hold), unknown_after=timedelta(seconds=self.unknown_after)
        )
