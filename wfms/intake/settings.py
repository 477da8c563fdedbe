"""Settings of the intake."""

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from sluice.contracts.access.services import CallingService
from sluice.servicekit.settings import ServiceSettings


class IntakeSettings(ServiceSettings):
    """Settings of the intake, read from ``SLUICE_INTAKE_…``; times are in seconds."""

    model_config = SettingsConfigDict(env_prefix="SLUICE_INTAKE_")

    port: int = CallingService.INTAKE.port
    #: Interval at which the DMS is asked for new data sets (events make it sooner), and triggers
    #: are checked.
    period: float = Field(default=5.0, gt=0)
    #: Number of data sets matched in one transaction.
    page: int = Field(default=100, ge=1, le=10_000)
    #: How long a claim on handing over a data set lasts. After that another instance takes it over,
    #: for example after a crash.
    claim_duration: float = Field(default=10.0, ge=0)
    #: Longest pause between attempts while the chain service does not answer.
    longest_pause: float = Field(default=30.0, ge=0)
    #: Number of chains that start one after the other in a trigger cycle, where templates trigger
    #: each other. Then no more chains start.
    generations: int = Field(default=20, ge=1, le=1_000_000)
