"""Somebody wants a data set deleted; chains that need it are in the way (invariant 4).

This service decides, not the DMS, which knows no chains. A chain is made, and a deletion granted, under the lock of the same row
of ``inputs``: either the chain is there first and the deletion is refused, or the data set is marked and no chain starts on it
any more. What was granted is a row until the DMS has taken it over, so that no crash leaves it half done.
"""

from contextlib import suppress
from uuid import UUID

import structlog

from sluice.clients.dms import DmsClient
from sluice.contracts.datasets import Dataset
from sluice.contracts.problems import Conflict, Finding, NotFound
from sluice.contracts.states import ChainState, DatasetType
from sluice.servicekit.database import Database
from sluice.servicekit.logging import log_ids
from wfms.chains.db import chains, datasets, deletions
from wfms.chains.db.deletions import Needing
from wfms.chains.usecases.cancel_chain import TooLate, cancel_chain

log = structlog.get_logger(__name__)

BATCH = 50
#: Chains named in a refusal; the rest is counted.
MOST_NAMED = 20


class DatasetNeeded(Conflict):
    """Chains that have not ended need the data set; the findings name them."""

    def __init__(self, dataset: Dataset, needing: list[Needing]) -> None:
        count = f"{len(needing)} chains that have" if len(needing) != 1 else f"chain {needing[0].uid}, which has"
        super().__init__(
            f"data set {dataset.name} is needed by {count} not ended: wait, cancel, or delete it by force, which cancels first",
            findings=[
                Finding(message=f"chain {one.uid}: {one.dataset} through {one.template}, {one.state}")
                for one in needing[:MOST_NAMED]
            ],
            dataset=dataset.uid,
            chains=len(needing),
        )


async def delete_dataset(database: Database, dms: DmsClient, uid: UUID, *, force: bool) -> Dataset:
    """Effect: the DMS deletes the data set, an output too if ``force``. While chains need it that is refused; with ``force`` they
    are canceled, and it is deleted when the last of them has ended (one whose output is on its way to the output storage cannot
    be canceled any more: it ends by itself). No chain starts on it any more. Repeating it is fine. Messages: those of
    ``cancel_chain``. Errors: ``NotFound``, ``DatasetNeeded``; ``Conflict`` of the DMS (an output, without ``force``);
    ``NotAvailable``."""
    dataset = await dms.dataset(uid)
    if dataset.type is DatasetType.OUTPUT and not force:
        return await dms.delete_dataset(uid)  # which says that it is an output
    now = database.clock.now()
    async with database.transaction() as transaction:
        await chains.lock_inputs(transaction.connection, [uid])
        needing = await deletions.needed_by(transaction.connection, uid)
        if needing and not force:
            raise DatasetNeeded(dataset, needing)
        await datasets.release_input(transaction.connection, [uid], now=now)
        await deletions.ask(transaction.connection, uid, force=force, now=now)
    return await _carry_out(database, dms, uid, force=force) or dataset


async def delete_asked(database: Database, dms: DmsClient) -> bool:
    """Effect: what ``delete_dataset`` promised, as far as it can be done now. Messages: as there. Errors: ``NotAvailable`` (tried
    again by the loop). Never True: what waits, waits for chains to end."""
    async with database.connection() as connection:
        asked = await deletions.asked(connection, limit=BATCH)
    for uid, force in asked:
        with suppress(Conflict):  # nobody waits for the answer any more
            await _carry_out(database, dms, uid, force=force)
    return False


async def _carry_out(database: Database, dms: DmsClient, uid: UUID, *, force: bool) -> Dataset | None:
    """None while it waits for chains to end, or where the DMS does not know the data set. Raises the DMS's ``Conflict``."""
    with log_ids(dataset=uid):
        async with database.connection() as connection:
            needing = await deletions.needed_by(connection, uid)
        for one in needing:
            if one.state is ChainState.IN_PROGRESS and not one.ending:
                with suppress(TooLate):
                    await cancel_chain(database, one.uid, reason=f"canceled because its data set {uid} is to be deleted")
        async with database.connection() as connection:
            if needing and await deletions.needed_by(connection, uid):
                return None
        deleted: Dataset | None = None
        try:
            deleted = await dms.delete_dataset(uid, force=force)
            log.info("dataset.deleted_by_request", force=force)
        except NotFound:
            pass
        except Conflict:
            async with database.transaction() as transaction:
                await deletions.forget(transaction.connection, uid)
                await deletions.keep_input(transaction.connection, uid)
            raise
        async with database.connection() as connection:
            await deletions.forget(connection, uid)
        return deleted
