"""Settings of the chain service."""

from datetime import timedelta

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from sluice.contracts.access.services import CallingService
from sluice.servicekit.settings import ServiceSettings
from wfms.chains.usecases.context import StartRules


class ChainsSettings(ServiceSettings):
    """Settings of the chain service, read from ``SLUICE_CHAINS_…``; times are in seconds."""

    model_config = SettingsConfigDict(env_prefix="SLUICE_CHAINS_")

    port: int = CallingService.CHAINS.port
    #: Largest request body in bytes (a larger one gets 413). It may hold one value for every 16
    #: bytes. A new chain contains its whole plan.
    largest_body: int = Field(default=32 * 1024 * 1024, ge=64 * 1024)
    #: Interval at which each loop looks for work.
    period: float = Field(default=1.0, gt=0)
    #: Number of steps that one instance starts at the same time.
    start_batch: int = Field(default=16, ge=1)
    #: How long a claim on the start of a step lasts. After that another instance takes the step
    #: over, for example after a crash.
    start_claim_duration: float = Field(default=30.0, ge=0)
    #: First pause after a start that failed. It doubles with each attempt.
    first_pause: float = Field(default=0.5, ge=0)
    #: Longest pause between attempts to start a step.
    longest_pause: float = Field(default=30.0, ge=0)
    #: Time after which a task that has not stopped is asked again.
    cancel_again: float = Field(default=5.0, ge=0)

    #: How long the intermediate data of a failed or canceled chain is kept for a rerun. 0: it is
    #: deleted at once.
    keep_failed: float = Field(default=43_200.0, ge=0)
    #: Added to the rank of tasks whose chain input is on a storage above its high watermark,
    #: until the storage is below the low one (`sluice storage marks`). 0: ranks do not change.
    watermark_rank: float = Field(default=10.0, ge=0, le=1e6)
    #: Interval at which the chain service checks the watermarks.
    raise_ranks_for_filling_storages_period: float = Field(default=10.0, gt=0)

    @property
    def start_rules(self) -> StartRules:
        """Return the settings that the start loop needs."""
        return StartRules(
            claim_duration=timedelta(seconds=self.start_claim_duration),
            batch=self.start_batch,
            first_pause=timedelta(seconds=self.first_pause),
            longest_pause=timedelta(seconds=self.longest_pause),
        )
