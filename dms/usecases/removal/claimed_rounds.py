"""One round of each loop that claims a data set and works on it."""

from collections.abc import Awaitable, Callable
from uuid import uuid4

from dms.db.claims import DatasetClaim, claim_sweep, claim_work
from dms.usecases.context import DmsContext
from dms.usecases.datasets.remove_dataset import remove_dataset
from dms.usecases.removal.claimed_work import Work, work_on
from dms.usecases.removal.sweep_dataset import SWEPT, sweep_dataset
from dms.usecases.uploads.upload_dataset import upload_dataset
from sluice.contracts.common.states import DatasetState
from sluice.servicekit.database import Connection
from sluice.servicekit.running.loop import do_nothing

_Claim = Callable[[Connection], Awaitable[DatasetClaim | None]]


async def delete_next_dataset(
    context: DmsContext, on_found: Callable[[], None] = do_nothing
) -> bool:
    """Delete one data set; return False if none is due."""
    return await _work_on_next(
        context, _claim_in(context, DatasetState.DELETING), remove_dataset, on_found=on_found
    )


async def upload_next_dataset(
    context: DmsContext, on_found: Callable[[], None] = do_nothing
) -> bool:
    """Upload one data set; return False if none is due."""
    return await _work_on_next(
        context, _claim_in(context, DatasetState.UPLOADING), upload_dataset, on_found=on_found
    )


async def sweep_next_folder(context: DmsContext) -> bool:
    """Sweep the folder of one data set; return False if none is due."""
    return await _work_on_next(
        context,
        lambda connection: claim_sweep(
            connection, uuid4(), states=SWEPT, seconds=context.claim_seconds
        ),
        sweep_dataset,
    )


def _claim_in(context: DmsContext, state: DatasetState) -> _Claim:
    return lambda connection: claim_work(
        connection, uuid4(), state=state, seconds=context.claim_seconds
    )


async def _work_on_next(
    context: DmsContext,
    claim_next: _Claim,
    work: Work,
    *,
    on_found: Callable[[], None] = do_nothing,
) -> bool:
    """Claim a data set, call ``on_found``, and work on it; return False if no work is due."""
    async with context.database.connection() as connection:
        claim = await claim_next(connection)
    if claim is None:
        return False
    on_found()
    await work_on(context, claim, work)
    return True
