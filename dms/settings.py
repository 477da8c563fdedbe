"""Settings of the DMS, from the environment variables ``SLUICE_DMS_…``."""

from pydantic import Field, field_validator
from pydantic_settings import SettingsConfigDict

from dms.domain.storage_urls import read_roots
from sluice.contracts.access.services import CallingService
from sluice.servicekit.settings import ServiceSettings


class DmsSettings(ServiceSettings):
    """Settings of the DMS."""

    model_config = SettingsConfigDict(env_prefix="SLUICE_DMS_")

    port: int = CallingService.DMS.port
    #: Roots below which storages may be: URLs and absolute paths, separated by spaces, as in
    #: `/data s3://bucket`. Quote a root that has spaces. A storage may also be a root itself.
    #: With no root, no storage can be registered.
    storage_roots: str = ""
    #: Where no storage may be added, in the same form: folders that tools may read as a whole. The
    #: innermost root or exclusion around a storage decides.
    storage_exclusions: str = ""
    #: Check files that are registered over REST: on a file system each must exist with the given
    #: size. Files that pilots wrote are not checked again.
    verify_files: bool = True
    #: Seconds between polls of the tables when nothing wakes a loop.
    poll_period: float = Field(default=1.0, gt=0)
    #: Data sets deleted, and uploaded, at the same time. Several let the others continue when one
    #: storage hangs.
    workers: int = Field(default=2, ge=1)
    #: Files copied at the same time.
    parallel_copies: int = Field(default=4, ge=1)
    #: Batches of files removed at the same time.
    parallel_removals: int = Field(default=8, ge=1)
    #: Pieces of files read at the same time from each storage for downloads.
    parallel_reads: int = Field(default=8, ge=1)
    #: Seconds that a claim on a data set lasts. Its holder renews it after a third of that time.
    claim_seconds: float = Field(default=30.0, gt=0)
    #: Longest pause in seconds before work on a data set is tried again after a storage failed.
    max_backoff_seconds: float = Field(default=300.0, gt=0)
    #: Seconds after a data set was closed, uploaded or deleted at which its folder is swept again.
    #: Attempts that learn late that they lost their lease may write in the meantime.
    sweep_again_seconds: float = Field(default=120.0, ge=0)

    @field_validator("storage_roots", "storage_exclusions")
    @classmethod
    def _are_roots(cls, text: str) -> str:
        read_roots(text)
        return text

    @property
    def roots(self) -> tuple[str, ...]:
        """Return ``storage_roots`` as URLs."""
        return read_roots(self.storage_roots)

    @property
    def exclusions(self) -> tuple[str, ...]:
        """Return ``storage_exclusions`` as URLs."""
        return read_roots(self.storage_exclusions)
