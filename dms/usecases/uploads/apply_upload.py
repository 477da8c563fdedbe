"""Apply the message that a data set is to be uploaded; a loop uploads it."""

from typing import assert_never

from dms.db.datasets import begin_uploads, lock_dataset, request_upload, resume_dataset
from dms.domain.errors import DatasetNotUploadable, UnknownDataset
from sluice.contracts.common.states import DatasetState, DatasetType
from sluice.contracts.messaging.messages import UploadDataset
from sluice.servicekit.database import Transaction
from sluice.servicekit.running.logging import log_ids


async def apply_upload(transaction: Transaction, message: UploadDataset) -> None:
    """Apply ``dms.uploads``: set the data set to uploading, as soon as it is closed.

    A repeated message resumes a halted upload, and has no other effect. A data set that is being
    deleted or is deleted stays so.

    Raises:
        UnknownDataset: The data set is not registered yet; the message is tried again.
        DatasetNotUploadable: The data set is an input.
    """
    with log_ids(dataset=message.uid):
        row = await lock_dataset(transaction.connection, message.uid)
        if row is None:
            raise UnknownDataset(message.uid)
        dataset = row.dataset
        if dataset.type is DatasetType.INPUT:
            raise DatasetNotUploadable(
                dataset.uid, dataset.name, "it is an input, which stays where it is"
            )
        match dataset.state:
            case DatasetState.OPEN | DatasetState.CLOSED:
                await request_upload(transaction.connection, dataset.uid)
                await begin_uploads(transaction.connection, [dataset.uid])
            case DatasetState.UPLOADING:
                await resume_dataset(transaction.connection, dataset.uid)
            case DatasetState.UPLOADED | DatasetState.DELETING | DatasetState.DELETED:
                return
            case _:
                assert_never(dataset.state)
