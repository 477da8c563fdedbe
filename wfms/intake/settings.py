"""Settings of the intake."""

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from sluice.servicekit.settings import ServiceSettings


class IntakeSettings(ServiceSettings):
    """``SLUICE_INTAKE_…``; times in seconds."""

    model_config = SettingsConfigDict(env_prefix="SLUICE_INTAKE_")

    port: int = 8085
    #: How often the DMS is asked for new data sets (events make it sooner), and what is due by
    #: growth or time is looked for.
    period: float = Field(default=5.0, gt=0)
    #: Data sets decided upon in one go.
    page: int = Field(default=100, ge=1, le=10_000)
    #: How long one instance may be at the handing over of a data set before another takes over
    #: (were it killed).
    hold: float = Field(default=10.0, ge=0)
    #: Longest pause between tries while the chain service does not answer.
    longest_pause: float = Field(default=30.0, ge=0)
    #: Where templates form a ring, each due by what the one before collects: so many chains begin
    #: by themselves one after the other, and then no more.
    generations: int = Field(default=20, ge=1, le=1_000_000)
