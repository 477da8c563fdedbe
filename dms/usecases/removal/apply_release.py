"""Apply the message that a task needs files of an intermediate data set no longer.

A released file leaves the lists at once. A loop removes its replicas.
"""

from uuid import UUID

from dms.db.datasets import lock_dataset
from dms.db.releases import list_unneeded_numbers, note_reads, release, set_read_ahead
from dms.domain.errors import UnknownDataset
from dms.usecases.removal.file_release import release_known_files
from sluice.contracts.common.problems import Unprocessable
from sluice.contracts.common.states import DatasetState, DatasetType
from sluice.contracts.messaging.messages import ReleaseFiles
from sluice.servicekit.database import Transaction
from sluice.servicekit.running.logging import log_ids
from sluice.text.visible_text import quoted


class DatasetNotIntermediate(Unprocessable):
    """The data set is not intermediate: its files are deleted on request only (invariant 4)."""

    def __init__(self, uid: UUID, name: str, type: DatasetType) -> None:
        super().__init__(
            f"data set {quoted(name)} is of type {type}: only intermediate data can release its"
            " files one by one",
            dataset=uid,
        )


async def apply_release(transaction: Transaction, message: ReleaseFiles) -> None:
    """Apply ``dms.releases`` in the transaction of the message.

    A file is released once all tasks that read it have released it: it leaves the lists and its
    replicas are removed. Its row stays, so that it cannot come back. Numbers without a registered
    file are kept, and their files are released at their registration. Nothing happens if the data
    set is being deleted or is deleted.

    Raises:
        UnknownDataset: The data set is not registered yet; the message is tried again.
        DatasetNotIntermediate: The data set is not intermediate, or is to be uploaded.
    """
    with log_ids(dataset=message.dataset_uid, task=message.task_uid):
        connection, uid = transaction.connection, message.dataset_uid
        row = await lock_dataset(connection, uid)
        if row is None:
            raise UnknownDataset(uid)
        dataset = row.dataset
        if dataset.state in {DatasetState.DELETING, DatasetState.DELETED}:
            return
        if dataset.type is not DatasetType.INTERMEDIATE or row.to_upload:
            raise DatasetNotIntermediate(uid, dataset.name, dataset.type)
        if message.downstream_count == 1:
            unknown = await release(connection, uid, message.seqs)
            if unknown:
                await note_reads(connection, message.model_copy(update={"seqs": unknown}))
        else:
            await note_reads(connection, message)
            done = await list_unneeded_numbers(connection, uid, message.seqs)
            unknown = await release_known_files(connection, uid, done)
        if unknown:
            await set_read_ahead(connection, uid)
