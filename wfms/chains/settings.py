"""Settings of the chain service."""

from datetime import timedelta

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from sluice.servicekit.settings import ServiceSettings
from wfms.chains.usecases.context import StartRules


class ChainsSettings(ServiceSettings):
    """``SLUICE_CHAINS_…``; times in seconds."""

    model_config = SettingsConfigDict(env_prefix="SLUICE_CHAINS_")

    port: int = 8083
    #: Most bytes of a request's body (413); it may have a value for every 16 of them. A chain comes
    #: with its whole plan.
    largest_body: int = Field(default=32 * 1024 * 1024, ge=64 * 1024)
    #: How often each loop looks for work by itself.
    period: float = Field(default=1.0, gt=0)
    #: Steps that one instance starts at the same time.
    start_batch: int = Field(default=16, ge=1)
    #: How long one instance may be at the start of a step before another takes over (were it
    #: killed).
    start_hold: float = Field(default=30.0, ge=0)
    #: Pause after a start that could not be completed, doubled each time …
    first_pause: float = Field(default=0.5, ge=0)
    #: … up to this one.
    longest_pause: float = Field(default=30.0, ge=0)
    #: A task that has not stopped is asked again after so long.
    cancel_again: float = Field(default=5.0, ge=0)

    #: How long what lies between the steps of a chain stays when it fails or is canceled, so that a
    #: rerun can take it over; 0: it goes at once.
    keep_failed: float = Field(default=43_200.0, ge=0)
    #: How much higher tasks of chains are ranked whose input lies on a storage that has reached its
    #: high water mark, until it is below the low one (`sluice storage marks`); 0: no task is.
    relief_rank: float = Field(default=10.0, ge=0, le=1e6)
    #: How often the chain service looks whether there are such storages.
    relief_period: float = Field(default=10.0, gt=0)

    @property
    def start_rules(self) -> StartRules:
        return StartRules(
            hold=timedelta(seconds=self.start_hold),
            batch=self.start_batch,
            first_pause=timedelta(seconds=self.first_pause),
            longest_pause=timedelta(seconds=self.longest_pause),
        )
