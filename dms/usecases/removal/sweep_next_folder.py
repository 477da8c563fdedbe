"""Sweep the next folder that is due."""

from uuid import uuid4

from dms.db.claims import claim_sweep
from dms.usecases.context import DmsContext
from dms.usecases.removal.claimed_work import work_on_next
from dms.usecases.removal.sweep_dataset import SWEPT, sweep_dataset


async def sweep_next_folder(context: DmsContext) -> bool:
    """Sweep the folder of one data set; return False if none is due."""
    return await work_on_next(
        context,
        lambda connection: claim_sweep(
            connection, uuid4(), states=SWEPT, seconds=context.claim_seconds
        ),
        sweep_dataset,
    )
