"""Apply the message that a data set is to be deleted; a loop deletes it."""

from dms.domain.errors import LastOutputCopy
from dms.usecases.datasets.deletion_mark import mark_deletion
from sluice.contracts.common.problems import Unprocessable
from sluice.contracts.data.assets import AssetInUse
from sluice.contracts.messaging.messages import DeleteDataset
from sluice.servicekit.database import Transaction
from sluice.servicekit.running.logging import log_ids


async def apply_deletion(transaction: Transaction, message: DeleteDataset) -> None:
    """Apply ``dms.deletions`` in the transaction of the message; ignore an unknown data set.

    Raises:
        Unprocessable: The data set is an output, append-only or an asset: a last copy is only
            deleted on request (invariant 4).
    """
    with log_ids(dataset=message.uid):
        try:
            await mark_deletion(transaction.connection, message.uid, force=False, withdrawn=False)
        except (LastOutputCopy, AssetInUse) as error:
            raise Unprocessable(error.detail, **error.fields) from error
