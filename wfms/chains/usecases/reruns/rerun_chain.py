"""Run a chain that is over again, as a new chain that takes over its remaining data.

The DMS is asked outside of transactions which data still exists. Then the new chain is stored under
the lock of the old one, which releases no data sets meanwhile. If it has released needed data by
then, the request starts again.
"""

from contextlib import suppress
from datetime import datetime, timedelta
from uuid import UUID, uuid4

import structlog

from sluice.contracts.chains.chains import RerunChain
from sluice.contracts.common.problems import Conflict, Finding
from sluice.servicekit.access.principal import Person
from sluice.servicekit.database import Transaction
from wfms.chains.db import chains, datasets, reruns
from wfms.chains.db.chains import NewChainRow
from wfms.chains.db.quotas import require_quota
from wfms.chains.domain.identity import rerun_uid
from wfms.chains.domain.rerun import from_outside
from wfms.chains.usecases.chains.advance_chain import advance_chain
from wfms.chains.usecases.context import ChainsContext
from wfms.chains.usecases.reruns.rerun_draft import RerunDraft, make_rerun_draft
from wfms.chains.usecases.steps.settle_failures import settle_failures

log = structlog.get_logger(__name__)

#: Number of attempts before a request fails.
TRIES = 3


class RerunDataMissing(Conflict):
    """Data that the rerun needs no longer exists; the findings say which."""

    def __init__(self, uid: UUID, missing_data: tuple[str, ...]) -> None:
        problems = [Finding(message=sentence) for sentence in missing_data]
        super().__init__(
            f"chain {uid} cannot be run again: {'; '.join(missing_data)}",
            findings=problems,
            uid=uid,
        )


class ChainChanged(Conflict):
    """The chain released data sets during each of several attempts."""

    def __init__(self, uid: UUID) -> None:
        super().__init__(f"the data of chain {uid} are being deleted: try again later", uid=uid)


async def rerun_chain(
    context: ChainsContext, uid: UUID, rerun_request: RerunChain, *, by: Person | None = None
) -> tuple[UUID, bool]:
    """Create a chain with the same data set and template version, for the person ``by``.

    Steps that are taken over are finished in it.

    Returns:
        Its uid, and whether it is new: the same key returns the first rerun.

    Raises:
        UnknownChain: There is no such chain.
        ChainNotEnded: The chain has not ended.
        ChainRefused: The parameters do not fit.
        NoSuchStep: The chain does not have the step to begin at.
        ConflictingRerunOptions: Both a step and failed jobs were asked for.
        NoFailedJobs: Only failed jobs were asked for, and none failed.
        RerunDataMissing: Data that it needs no longer exists.
        ChainChanged: The chain releases data sets at this moment.
        TooManyChains: A quota is used up.
        NotAvailable: Another service does not answer.
    """
    database = context.database
    new = rerun_uid(uid, rerun_request.key or uuid4())
    for _ in range(TRIES):
        async with database.connection() as connection:
            if await chains.chain_exists(connection, new):
                return new, False
        draft = await make_rerun_draft(context, uid, rerun_request, by=by)
        if draft.rerun.missing:
            raise RerunDataMissing(uid, draft.rerun.missing)
        with suppress(ChainChanged):
            async with database.transaction() as transaction:
                stored = await _store_rerun(
                    transaction,
                    new,
                    draft,
                    keep_failed=context.keep_failed,
                    now=database.clock.now(),
                )
            if stored:
                log.info(
                    "chain.rerun", chain=str(new), rerun_of=str(uid), steps=list(draft.rerun.runs)
                )
            return new, stored
    raise ChainChanged(uid)


async def _store_rerun(
    transaction: Transaction, new: UUID, draft: RerunDraft, *, keep_failed: timedelta, now: datetime
) -> bool:
    """Store the new chain; return False if somebody else has stored the same rerun.

    Raises:
        ChainChanged: The chain has released a needed data set meanwhile.
    """
    connection, before = transaction.connection, draft.before
    locked = await chains.lock_chain_row(connection, before.uid)
    if await chains.chain_exists(connection, new):
        return False
    outside = {
        name: uid
        for name, uid in from_outside(before.view.plan, draft.request).items()
        if uid in draft.readable
    }
    if await chains.lock_inputs(connection, [*outside.values(), *draft.takes]):
        raise ChainChanged(before.uid)
    await require_quota(connection, draft.ownership, by_person=True)
    row = NewChainRow(
        uid=new,
        variant=str(new),
        template=before.template,
        plan=draft.plan,
        params=draft.request.params,
        dataset=before.dataset,
        keep_failed=keep_failed,
        rerun_of=before.uid,
        rank=0.0 if locked is None else locked.rank,
        ownership=draft.ownership,
        input_copied=before.view.input_copied,
    )
    await chains.insert_chain(connection, row, now=now)
    complete_steps = [
        step.name for step in before.view.plan.steps if step.name not in draft.rerun.runs
    ]
    await reruns.take_steps(
        connection, new, before=before.uid, complete_steps=complete_steps, jobs=draft.rerun.by_jobs
    )
    for name, uid in outside.items():
        port = None if name == before.view.plan.data_input else name
        await datasets.insert_chain_dataset(
            connection, new, draft.readable[uid], port=port, now=now
        )
    if not await datasets.take_datasets(
        connection, new, before=before.uid, ports=draft.takes, now=now
    ):
        raise ChainChanged(before.uid)
    await advance_chain(transaction, new, now=now)
    if before.view.unsettled:
        await settle_failures(transaction, before.uid, now=now)
    return True
