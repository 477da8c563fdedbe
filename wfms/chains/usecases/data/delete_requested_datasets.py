"""Delete the data sets whose deletion was granted, when no chain needs them any more."""

import asyncio
from datetime import timedelta
from uuid import UUID, uuid4

import structlog

from sluice.contracts.common.problems import (
    Conflict,
    NotAvailable,
)
from sluice.servicekit.database import TRANSIENT_ERRORS
from wfms.chains.db import deletions
from wfms.chains.usecases.context import ChainsContext
from wfms.chains.usecases.data.dataset_deletion import carry_out_deletion

log = structlog.get_logger(__name__)

BATCH = 50
#: How long a claim of an instance that died blocks the others.
CLAIM_DURATION = timedelta(seconds=30)


async def delete_requested_datasets(
    context: ChainsContext, *, claim_duration: timedelta = CLAIM_DURATION
) -> bool:
    """Carry out granted deletions where possible now, and return whether there may be more.

    A deletion that fails does not block others. It is tried again after ``claim_duration``.

    Raises:
        NotAvailable: The DMS does not answer. The loop tries again.
    """
    database = context.database
    token = uuid4()
    try:
        async with database.connection() as connection:
            claimed = await deletions.claim(
                connection, token, claim_duration=claim_duration, limit=BATCH
            )
        for uid, force in claimed:
            await _try(context, uid, force=force, token=token)
    except (asyncio.CancelledError, NotAvailable):  # another instance can continue at once
        async with database.connection() as connection:
            await deletions.unclaim(connection, token)
        raise
    return len(claimed) == BATCH


async def _try(context: ChainsContext, uid: UUID, *, force: bool, token: UUID) -> None:
    """Delete a claimed data set if that is possible now, and release the claim.

    An unexpected error leaves the claim to expire, so that other deletions come first.
    """
    try:
        await carry_out_deletion(context, uid, force=force)
    except Conflict:
        # The answer is not waited for. The request is gone, or somebody has forced it meanwhile.
        pass
    except (*TRANSIENT_ERRORS, NotAvailable):
        raise
    except Exception:  # process boundary: one deletion must not block others
        log.exception("dataset.deletion_failed", dataset=uid)
        return
    async with context.database.connection() as connection:
        await deletions.unclaim(connection, token, uid=uid)  # it waits for chains to end
