"""Upload the next data set that is due."""

from collections.abc import Callable

from dms.usecases.context import DmsContext
from dms.usecases.removal.claimed_work import claim_in_state, work_on_next
from dms.usecases.uploads.upload_dataset import upload_dataset
from sluice.contracts.common.states import DatasetState
from sluice.servicekit.running.loop import do_nothing


async def upload_next_dataset(
    context: DmsContext, on_found: Callable[[], None] = do_nothing
) -> bool:
    """Upload one data set; return False if none is due."""
    claim_next = claim_in_state(context, DatasetState.UPLOADING)
    return await work_on_next(context, claim_next, upload_dataset, on_found=on_found)
