"""What the use cases of the DMS work with."""

from dataclasses import dataclass

from dms.usecases.file_reads import FileReads
from dms.usecases.file_work import FileWork
from dms.usecases.watch_storages import StorageWatch
from sluice.servicekit.database import Database


@dataclass(frozen=True, slots=True)
class DmsContext:
    """Made in ``wiring``; a use case that needs nothing but the catalogue takes the ``database``.
    ``verify_files`` before they are registered. Times in seconds, as in the settings.
    """

    database: Database
    files: FileWork
    reads: FileReads
    watch: StorageWatch
    verify_files: bool
    claim_seconds: float
    max_backoff_seconds: float
    sweep_again_seconds: float
