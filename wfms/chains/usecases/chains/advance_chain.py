"""Move a chain on, in the transaction of the change that caused it."""

from datetime import datetime
from uuid import UUID

from sluice.contracts.common.states import ChainDatasetStatus, ChainState, StepState
from sluice.contracts.messaging.messages import DMS_UPLOADS, UploadDataset
from sluice.servicekit.database import Transaction
from wfms.chains.db import chains, datasets, steps
from wfms.chains.db.chains import StoredChain
from wfms.chains.db.collections import ask_to_collect
from wfms.chains.domain.collecting import list_outputs_to_collect
from wfms.chains.domain.next_actions import NextActions, next_actions


async def advance_chain(transaction: Transaction, uid: UUID, *, now: datetime) -> ChainState | None:
    """Store what follows from the chain's state, and return its new state.

    Next steps become starting, unsent steps of an ending chain are canceled, data sets become ready
    or are released. When all steps have finished, the DMS is asked to upload each workflow output
    (``dms.uploads``). When the chain finishes, outputs that are collected are queued for it. This
    takes the chain's lock if the transaction does not hold it.

    Returns:
        None if there is no such chain.
    """
    while True:
        stored = await chains.lock_chain(transaction.connection, uid)
        if stored is None:
            return None
        todo = next_actions(stored.view)
        await _store_actions(transaction, stored, todo, now=now)
        starts_to_upload = (
            todo.state is ChainState.UPLOADING and todo.state is not stored.view.state
        )
        # A rerun may have taken over all its outputs. It then has nothing to upload, and no later
        # message moves it on: its next state follows at once.
        if not starts_to_upload or todo.upload:
            return todo.state


async def _store_actions(
    transaction: Transaction, stored_chain: StoredChain, next_actions: NextActions, *, now: datetime
) -> None:
    """Store the next actions of a locked chain, and send its requests to the DMS."""
    connection, uid = transaction.connection, stored_chain.uid
    if next_actions.start:
        await steps.move_steps(connection, uid, next_actions.start, to=StepState.STARTING, now=now)
    if next_actions.cancel:
        # The failed step and the chain store the whole reason.
        steps_now = stored_chain.view.steps.items()
        failed = [name for name, step in steps_now if step.state is StepState.FAILED]
        reason = f"step {failed[0]} failed" if failed else stored_chain.reason
        await steps.move_steps(
            connection, uid, next_actions.cancel, to=StepState.CANCELED, now=now, reason=reason
        )
    if next_actions.ready:
        await datasets.move_datasets(
            connection, uid, next_actions.ready, to=ChainDatasetStatus.READY, now=now
        )
    if next_actions.release:
        await datasets.move_datasets(
            connection, uid, next_actions.release, to=ChainDatasetStatus.FINISHED, now=now
        )
        inputs = {
            dataset.uid
            for dataset in stored_chain.view.datasets
            if dataset.step is None or dataset.uploaded or stored_chain.view.upload_requested
        }
        await datasets.release_input(
            connection, [dataset for dataset in next_actions.release if dataset in inputs], now=now
        )
    for output in next_actions.upload:
        transaction.send(
            DMS_UPLOADS, UploadDataset(uid=output), subject=output, chain=uid, dataset=output
        )
    if next_actions.state is not stored_chain.view.state:
        await chains.move_chain(connection, uid, to=next_actions.state, now=now)
        if collected := list_outputs_to_collect(stored_chain.view, next_actions.state):
            await ask_to_collect(connection, uid, collected, now=now)
