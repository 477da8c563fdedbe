"""The deletion of a data set, after chains that need it were canceled."""

from contextlib import suppress
from uuid import UUID

import structlog

from sluice.contracts.common.problems import (
    Conflict,
    NotFound,
)
from sluice.contracts.common.states import ChainState
from sluice.contracts.data.datasets import Dataset
from sluice.servicekit.running.logging import log_ids
from wfms.chains.db import deletions
from wfms.chains.usecases.chains.cancel_chain import ChainNotCancelable, cancel_chain
from wfms.chains.usecases.context import ChainsContext

log = structlog.get_logger(__name__)


async def carry_out_deletion(context: ChainsContext, uid: UUID, *, force: bool) -> Dataset | None:
    """Carry out one deletion.

    Returns:
        None while it waits for chains to end, or if the DMS does not know the data set.

    Raises:
        Conflict: The DMS refuses the deletion.
    """
    database = context.database
    with log_ids(dataset=uid):
        async with database.connection() as connection:
            needing = await deletions.list_dependent_chains(connection, uid)
        for chain in needing:
            if chain.state is ChainState.IN_PROGRESS and not chain.ending:
                with suppress(ChainNotCancelable):
                    await cancel_chain(
                        database,
                        chain.uid,
                        reason=f"canceled because its data set {uid} is to be deleted",
                    )
        async with database.connection() as connection:
            if needing and await deletions.list_dependent_chains(connection, uid):
                return None
        deleted: Dataset | None = None
        try:
            # A granted deletion of an asset implies that the asset was taken back.
            deleted = await context.dms.delete_dataset(uid, force=force, taken_back=True)
            log.info("dataset.deleted_by_request", force=force)
        except NotFound:
            pass
        except Conflict:
            async with database.transaction() as transaction:
                if await deletions.forget_refused(transaction.connection, uid, force=force):
                    await deletions.restore_input(transaction.connection, uid)
            raise
        async with database.connection() as connection:
            await deletions.forget(connection, uid)
        return deleted
