"""Check that the DMS can use a storage."""

from dms.domain.storage_errors import StorageRefused
from dms.usecases.files.file_work import PROBE_TIMEOUT_SECONDS, FileWork
from sluice.contracts.data.datasets import NewStorage
from sluice.storage import StorageError


async def probe_storage(files: FileWork, storage: NewStorage) -> None:
    """Check that the DMS can use a storage.

    Raises:
        StorageRefused: The storage cannot be used, or does not answer.
    """
    try:
        await files.probe(storage.url, read_only=storage.read_only)
    except StorageError as error:
        use = (
            "read its list of files" if storage.read_only else "write, read and delete a file there"
        )
        raise StorageRefused(
            storage.name, storage.url, f"cannot be used, the DMS has to {use}: {error.reason}"
        ) from error
    except TimeoutError as error:
        raise StorageRefused(
            storage.name, storage.url, f"has not answered within {PROBE_TIMEOUT_SECONDS:g} s"
        ) from error
