"""Asking for a data set to be brought to the output storage; a loop carries it out."""

from typing import assert_never

from dms.db.datasets import begin_uploads, lock_dataset, request_upload, set_going
from dms.domain.errors import NotUploadable, UnknownDataset
from sluice.contracts.messages import UploadDataset
from sluice.contracts.states import DatasetState, DatasetType
from sluice.servicekit.database import Transaction
from sluice.servicekit.logging import log_ids


async def apply_upload(transaction: Transaction, message: UploadDataset) -> None:
    """``dms.uploads``. Effect: state uploading; an open data set is uploaded as soon as it closes.
    Repeating it sets a halted upload going, and changes nothing else. What is deleted, or being
    deleted, stays so: nobody wants it uploaded any more.

    Raises ``UnknownDataset`` (the message is tried again), ``NotUploadable`` for inputs.
    """
    with log_ids(dataset=message.uid):
        row = await lock_dataset(transaction.connection, message.uid)
        if row is None:
            raise UnknownDataset(message.uid)
        dataset = row.dataset
        if dataset.type is DatasetType.INPUT:
            raise NotUploadable(
                dataset.uid, dataset.name, "it is an input, which stays where it is"
            )
        match dataset.state:
            case DatasetState.OPEN | DatasetState.CLOSED:
                await request_upload(transaction.connection, dataset.uid)
                await begin_uploads(transaction.connection, [dataset.uid])
            case DatasetState.UPLOADING:
                await set_going(transaction.connection, dataset.uid)
            case DatasetState.UPLOADED | DatasetState.DELETING | DatasetState.DELETED:
                return
            case _:
                assert_never(dataset.state)
