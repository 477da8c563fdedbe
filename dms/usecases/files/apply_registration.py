"""Apply the message that registers files of a data set."""

from dms.db.datasets import lock_dataset
from dms.db.storages import list_roots
from dms.domain.errors import UnknownDataset
from dms.usecases.files.file_registration import add_files
from dms.usecases.files.submitted_files import find_place, to_submitted
from sluice.contracts.common.problems import Conflict, Unprocessable
from sluice.contracts.messaging.messages import RegisterFiles
from sluice.servicekit.database import Transaction
from sluice.servicekit.running.logging import log_ids


async def apply_registration(transaction: Transaction, message: RegisterFiles) -> None:
    """Apply ``dms.files``: register files in the transaction of the message.

    ``close_at`` is kept, and a loop closes the data set when it has this number of files. Files
    of a data set that is being deleted or is deleted are registered only to be removed.

    Raises:
        UnknownDataset: The data set is not registered yet; the message is tried again.
        Unprocessable: The message contradicts the catalogue.
    """
    with log_ids(dataset=message.dataset_uid):
        row = await lock_dataset(transaction.connection, message.dataset_uid)
        if row is None:
            raise UnknownDataset(message.dataset_uid)
        # Disabled storages count, too: the file was written before.
        roots = list((await list_roots(transaction.connection)).values())
        submitted = [to_submitted(file, find_place(file, roots)) for file in message.files]
        try:
            await add_files(
                transaction.connection, row, submitted, close_at=message.close_at, late=True
            )
        except Conflict as error:
            raise Unprocessable(error.detail, findings=error.findings, **error.fields) from error
