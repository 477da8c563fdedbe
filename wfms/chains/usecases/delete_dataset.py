"""Delete a data set on request, unless chains need it (invariant 4).

This service decides, because the DMS knows no chains. Creating a chain and granting a deletion take
the lock of the same row of ``inputs``. So either the chain exists first and the deletion is
refused, or the data set is marked and chains no longer start on it. A granted deletion is a row
until the DMS has taken it over, so that a crash loses nothing.
"""

import asyncio
from contextlib import suppress
from datetime import timedelta
from uuid import UUID, uuid4

import structlog

from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.common.problems import (
    Conflict,
    Finding,
    ForceRequired,
    NotAvailable,
    NotFound,
)
from sluice.contracts.common.states import ChainState, DatasetType
from sluice.contracts.data.asset_refs import MARK
from sluice.contracts.data.assets import AssetInUse
from sluice.contracts.data.datasets import Dataset
from sluice.servicekit.database import TRANSIENT_ERRORS
from sluice.servicekit.running.logging import log_ids
from wfms.chains.db import chains, deletions
from wfms.chains.db.deletions import DependentChain
from wfms.chains.usecases.cancel_chain import ChainNotCancelable, cancel_chain
from wfms.chains.usecases.context import ChainsContext
from wfms.chains.usecases.find_files import require_owned

log = structlog.get_logger(__name__)

BATCH = 50
#: How long a claim of an instance that died blocks the others.
CLAIM_DURATION = timedelta(seconds=30)
#: Number of chains named in a refusal; further ones are only counted.
MAX_NAMED = 20


class DatasetNeeded(ForceRequired):
    """Chains that have not ended need the data set; the findings name them."""

    def __init__(self, dataset: Dataset, dependent_chains: list[DependentChain]) -> None:
        count = (
            f"{len(dependent_chains)} chains that have"
            if len(dependent_chains) != 1
            else f"chain {dependent_chains[0].uid}, which has"
        )
        super().__init__(
            f"data set {dataset.name} is needed by {count} not ended: wait or cancel",
            forced="cancels the chains that need it, and then deletes it",
            findings=[
                Finding(
                    message=(
                        f"chain {chain.uid}: {chain.dataset} through {chain.template},"
                        f" {chain.state}"
                    )
                )
                for chain in dependent_chains[:MAX_NAMED]
            ],
            dataset=dataset.uid,
            chains=len(dependent_chains),
        )


async def delete_dataset(
    context: ChainsContext,
    uid: UUID,
    *,
    force: bool,
    taken_back: bool = False,
    visibility: Visibility = ALL,
) -> Dataset:
    """Have the DMS delete a data set. Repeating it is fine.

    With ``force``, chains that need the data set are canceled. It is deleted when the last of them
    has ended; a chain that uploads its output ends without help. Chains no longer start on it or
    take it over.

    Args:
        context: Clients and settings.
        uid: The data set.
        force: Cancel chains that need it, and delete it even if it is an output.
        taken_back: Chains no longer get it as an asset. Otherwise even ``force`` does not delete
            an asset.
        visibility: The visibility of the caller.

    Raises:
        NotFound: The data set does not exist or is not visible.
        Forbidden: It belongs to another group.
        DatasetNeeded: Chains that have not ended need it.
        AssetInUse: It holds a version of an asset.
        Conflict: It is an output, and ``force`` is not set.
        NotAvailable: The DMS does not answer.
    """
    database = context.database
    dataset = await context.dms.get_dataset(uid)
    require_owned(dataset, visibility)
    if MARK in dataset.meta and not taken_back:
        raise AssetInUse(uid, dataset.name, dataset.meta[MARK])
    last = dataset.type is DatasetType.OUTPUT or dataset.append_only is not None
    if last and not force:
        return await context.dms.delete_dataset(uid)  # the DMS refuses, and says why
    now = database.clock.now()
    async with database.transaction() as transaction:
        await chains.lock_inputs(transaction.connection, [uid])
        needing = await deletions.list_dependent_chains(transaction.connection, uid)
        if needing and not force:
            raise DatasetNeeded(dataset, needing)
        await deletions.mark_input_released(transaction.connection, uid, now=now)
        await deletions.store_request(transaction.connection, uid, force=force, now=now)
    return await _carry_out(context, uid, force=force) or dataset


async def delete_requested(
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
        await _carry_out(context, uid, force=force)
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


async def _carry_out(context: ChainsContext, uid: UUID, *, force: bool) -> Dataset | None:
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
