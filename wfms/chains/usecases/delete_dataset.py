"""Deletes a data set on request, unless chains need it (invariant 4).

This service decides, not the DMS, which knows no chains. A chain is made, and a deletion granted,
under the lock of the same row of ``inputs``: either the chain is there first and the deletion is
refused, or the data set is marked and no chain starts on it any more. What was granted is a row
until the DMS has taken it over, so that no crash leaves it half done.
"""

import asyncio
from contextlib import suppress
from datetime import timedelta
from uuid import UUID, uuid4

import structlog

from sluice.contracts.asset_refs import MARK
from sluice.contracts.assets import AssetKept
from sluice.contracts.datasets import Dataset
from sluice.contracts.owners import ALL, Sight
from sluice.contracts.problems import Conflict, Finding, NeedsForce, NotAvailable, NotFound
from sluice.contracts.states import ChainState, DatasetType
from sluice.servicekit.database import PASSING
from sluice.servicekit.logging import log_ids
from wfms.chains.db import chains, deletions
from wfms.chains.db.deletions import Needing
from wfms.chains.usecases.cancel_chain import TooLate, cancel_chain
from wfms.chains.usecases.context import ChainsContext
from wfms.chains.usecases.find_files import require_owned

log = structlog.get_logger(__name__)

BATCH = 50
#: How long an instance that died keeps the others off.
HOLD = timedelta(seconds=30)
#: Chains named in a refusal; the rest is counted.
MOST_NAMED = 20


class DatasetNeeded(NeedsForce):
    """Chains that have not ended need the data set; the findings name them."""

    def __init__(self, dataset: Dataset, needing: list[Needing]) -> None:
        count = (
            f"{len(needing)} chains that have"
            if len(needing) != 1
            else f"chain {needing[0].uid}, which has"
        )
        super().__init__(
            f"data set {dataset.name} is needed by {count} not ended: wait or cancel",
            forced="cancels first, and then deletes it",
            findings=[
                Finding(
                    message=(
                        f"chain {chain.uid}: {chain.dataset} through {chain.template},"
                        f" {chain.state}"
                    )
                )
                for chain in needing[:MOST_NAMED]
            ],
            dataset=dataset.uid,
            chains=len(needing),
        )


async def delete_dataset(
    context: ChainsContext,
    uid: UUID,
    *,
    force: bool,
    taken_back: bool = False,
    sight: Sight = ALL,
) -> Dataset:
    """``taken_back``: no chain is given it as an asset any more; not even ``force`` deletes what
    is. Effect: the DMS deletes the data set, an output too if ``force``. While chains need it that
    is refused; with ``force`` they are canceled, and it is deleted when the last of them has ended
    (one whose output is on its way to the output storage cannot be canceled any more: it ends by
    itself). No chain starts on it or takes it over any more. Repeating it is fine. Messages: those
    of ``cancel_chain``. Errors: ``NotFound``, ``Forbidden``, ``DatasetNeeded``, ``AssetKept``;
    ``Conflict`` of the DMS (an output, without ``force``); ``NotAvailable``."""
    database = context.database
    dataset = await context.dms.dataset(uid)
    require_owned(dataset, sight)
    if MARK in dataset.meta and not taken_back:
        raise AssetKept(uid, dataset.name, dataset.meta[MARK])
    last = dataset.type is DatasetType.OUTPUT or dataset.standing is not None
    if last and not force:
        return await context.dms.delete_dataset(uid)  # which says what it is
    now = database.clock.now()
    async with database.transaction() as transaction:
        await chains.lock_inputs(transaction.connection, [uid])
        needing = await deletions.needed_by(transaction.connection, uid)
        if needing and not force:
            raise DatasetNeeded(dataset, needing)
        await deletions.give_up_input(transaction.connection, uid, now=now)
        await deletions.ask(transaction.connection, uid, force=force, now=now)
    return await _carry_out(context, uid, force=force) or dataset


async def delete_asked(context: ChainsContext, *, hold: timedelta = HOLD) -> bool:
    """Effect: what ``delete_dataset`` promised, as far as it can be done now; one that fails keeps
    no other waiting, and is tried again after ``hold``. Messages: as there. Errors:
    ``NotAvailable`` (tried again by the loop). True when there may be more."""
    database = context.database
    token = uuid4()
    try:
        async with database.connection() as connection:
            claimed = await deletions.claim(connection, token, hold=hold, limit=BATCH)
        for uid, force in claimed:
            await _try(context, uid, force=force, token=token)
    except (asyncio.CancelledError, NotAvailable):  # whoever is there goes on at once
        async with database.connection() as connection:
            await deletions.unclaim(connection, token)
        raise
    return len(claimed) == BATCH


async def _try(context: ChainsContext, uid: UUID, *, force: bool, token: UUID) -> None:
    try:
        await _carry_out(context, uid, force=force)
    except Conflict:  # it is forgotten, and nobody waits for the answer any more
        return
    except (*PASSING, NotAvailable):
        raise
    except Exception:  # process boundary: one deletion must not keep the others waiting
        log.exception("dataset.deletion_failed", dataset=uid)
        return
    async with context.database.connection() as connection:
        await deletions.unclaim(connection, token, uid=uid)  # where it waits for chains to end


async def _carry_out(context: ChainsContext, uid: UUID, *, force: bool) -> Dataset | None:
    """None while it waits for chains to end, or where the DMS does not know the data set. Raises
    the DMS's ``Conflict``."""
    database = context.database
    with log_ids(dataset=uid):
        async with database.connection() as connection:
            needing = await deletions.needed_by(connection, uid)
        for chain in needing:
            if chain.state is ChainState.IN_PROGRESS and not chain.ending:
                with suppress(TooLate):
                    await cancel_chain(
                        database,
                        chain.uid,
                        reason=f"canceled because its data set {uid} is to be deleted",
                    )
        async with database.connection() as connection:
            if needing and await deletions.needed_by(connection, uid):
                return None
        deleted: Dataset | None = None
        try:
            # Of an asset: what is carried out here was granted, so it is taken back.
            deleted = await context.dms.delete_dataset(uid, force=force, taken_back=True)
            log.info("dataset.deleted_by_request", force=force)
        except NotFound:
            pass
        except Conflict:
            async with database.transaction() as transaction:
                if await deletions.forget_refused(transaction.connection, uid, force=force):
                    await deletions.keep_input(transaction.connection, uid)
            raise
        async with database.connection() as connection:
            await deletions.forget(connection, uid)
        return deleted
