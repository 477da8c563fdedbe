"""The folder of a data set that is filled over the network."""

from collections.abc import Awaitable
from typing import TypeVar
from uuid import UUID

from dms.db.datasets import find_dataset
from dms.db.storages import list_roots
from dms.domain.errors import DatasetNotOpen, UnknownDataset, UploadUnsupported
from dms.domain.places import StoragePlace, storage_place
from dms.domain.storage_errors import StorageDisabled
from dms.usecases.context import DmsContext
from sluice.contracts.common.problems import NotAvailable
from sluice.contracts.common.states import DatasetState, DatasetType
from sluice.contracts.data.datasets import Dataset
from sluice.storage import ChecksumMismatch, StorageError, StorageFull
from sluice.text.visible_text import quoted

ResultT = TypeVar("ResultT")


async def wait_for_write(work: Awaitable[ResultT], place: StoragePlace) -> ResultT:
    """Wait for work that writes to a storage.

    Raises:
        ChecksumMismatch: The content is not what was announced.
        NotAvailable: The storage is full, or cannot be written now.
    """
    try:
        return await work
    except ChecksumMismatch:
        raise
    except StorageFull as error:
        raise NotAvailable(f"storage {quoted(place.root.name)} is full: {error}") from error
    except StorageError as error:
        raise NotAvailable(f"storage {quoted(place.root.name)}: {error}") from error


async def get_upload_folder(
    context: DmsContext, uid: UUID, file: str
) -> tuple[Dataset, StoragePlace]:
    """Return a data set that takes the pieces of files, and the place of its folder.

    Raises:
        UnknownDataset: The data set does not exist.
        DatasetNotOpen: It is not open.
        UploadUnsupported: It is not an input, or does not have its own folder.
        StorageDisabled: Its storage takes no new data.
    """
    async with context.database.connection() as connection:
        row = await find_dataset(connection, uid)
        roots = [root for root in (await list_roots(connection)).values() if root.enabled]
    if row is None:
        raise UnknownDataset(uid)
    dataset = row.dataset
    if dataset.state is not DatasetState.OPEN:
        raise DatasetNotOpen(uid, dataset.name, state=dataset.state, file=file)
    subject = f"data set {quoted(dataset.name)}"
    if dataset.type is not DatasetType.INPUT or dataset.url is None:
        raise UploadUnsupported(uid, dataset.name)
    place = storage_place(dataset.url, roots, subject=subject)
    if not place.path:
        raise UploadUnsupported(uid, dataset.name)
    why = context.storage_monitor.rejection_reasons.get(place.root.id)
    if why is None and place.root.read_only:
        why = "it is read-only"
    if why is not None:
        raise StorageDisabled(subject, place.root.name, storage_id=place.root.id, why=why)
    return dataset, place
