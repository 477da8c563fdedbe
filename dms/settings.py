"""Settings of the DMS: ``SLUICE_DMS_…`` in the environment."""

from pydantic import Field, field_validator
from pydantic_settings import SettingsConfigDict

from dms.domain.storage_urls import read_roots
from sluice.servicekit.settings import ServiceSettings


class DmsSettings(ServiceSettings):
    model_config = SettingsConfigDict(env_prefix="SLUICE_DMS_")

    port: int = 8081
    #: Where storages may lie: URLs and absolute paths, apart by spaces, as in `/data s3://bucket`
    #: (in quotes where they have spaces themselves). Each storage lies in one of these places, or
    #: is one. None given: no storage can be registered.
    storage_roots: str = ""
    #: Where no storage may be added, in the same form: folders that tools may read as a whole. Of
    #: all places that a storage lies in, the innermost decides.
    storage_exclusions: str = ""
    #: Whether files that are registered by REST are looked at: on storages of a file system each
    #: has to be there, with the size given. (What pilots wrote is not looked at again.)
    verify_files: bool = True
    #: Seconds between looks at the tables where nobody woke a loop.
    poll_seconds: float = Field(default=1.0, gt=0)
    #: Data sets deleted at the same time, and uploaded at the same time: one whose storage hangs
    #: must not keep the others.
    workers: int = Field(default=2, ge=1)
    #: Files copied at the same time.
    parallel_copies: int = Field(default=4, ge=1)
    #: Bundles of files removed at the same time.
    parallel_removals: int = Field(default=8, ge=1)
    #: Pieces of files read at the same time from each storage for those who download.
    parallel_reads: int = Field(default=8, ge=1)
    #: Seconds for which an instance keeps others off a data set it works on; renewed while it
    #: lives, three times as often.
    claim_seconds: float = Field(default=30.0, gt=0)
    #: Longest pause, seconds, before work on a data set whose storage failed is tried again.
    max_backoff_seconds: float = Field(default=300.0, gt=0)
    #: Seconds after a data set closed or was deleted at which its folder is looked through a second
    #: time: attempts that were told late that they lost may have gone on writing.
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
