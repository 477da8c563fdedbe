"""The context of the DMS use cases."""

from dataclasses import dataclass

from dms.usecases.files.file_reads import FileReads
from dms.usecases.files.file_work import FileWork
from dms.usecases.storages.storage_monitor import StorageMonitor
from sluice.servicekit.database import Database


@dataclass(frozen=True, slots=True)
class DmsContext:
    """The context of the use cases, which ``dms/wiring.py`` creates.

    A use case that only needs the catalogue takes the ``database``. Times are in seconds. The
    fields from ``verify_files`` on are those of the settings.
    """

    database: Database
    files: FileWork
    reads: FileReads
    storage_monitor: StorageMonitor
    verify_files: bool
    claim_seconds: float
    max_backoff_seconds: float
    sweep_again_seconds: float
