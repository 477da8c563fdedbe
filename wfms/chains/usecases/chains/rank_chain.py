"""Rank a whole chain relative to others."""

from uuid import UUID

import structlog

from sluice.contracts.common.problems import Conflict, NotAvailable, NotFound
from sluice.contracts.common.states import ChainState
from wfms.chains.db import chains
from wfms.chains.domain.ranks import add_ranks
from wfms.chains.usecases.chains.get_chain import UnknownChain
from wfms.chains.usecases.context import ChainsContext

log = structlog.get_logger(__name__)


class NoStepsLeft(Conflict):
    """The chain has no more steps to run, so its rank does not matter."""

    def __init__(self, uid: UUID, state: ChainState) -> None:
        super().__init__(
            f"chain {uid} is {state}: its steps no longer run, so its rank no longer matters",
            uid=uid,
            state=state,
        )


async def rank_chain(context: ChainsContext, uid: UUID, rank: float) -> None:
    """Add ``rank`` to the ranks of the chain's steps. Repeating it is fine.

    Running steps get the new rank at once, other steps when they start.

    Raises:
        UnknownChain: There is no such chain.
        NoStepsLeft: The chain is not in progress.
        NotAvailable: The WMS does not answer or does not know a task yet. Steps to come have the
            rank; the request can be repeated.
    """
    async with context.database.transaction() as transaction:
        # A step that is just starting waits for this lock, and then takes the new rank.
        locked = await chains.lock_chain(transaction.connection, uid)
        if locked is None:
            raise UnknownChain(uid)
        if locked.view.state is not ChainState.IN_PROGRESS or locked.view.ending is not None:
            raise NoStepsLeft(uid, locked.view.ending or locked.view.state)
        await chains.set_rank(transaction.connection, uid, rank)
        tasks = await chains.list_running_tasks(transaction.connection, uid)
    plan = locked.view.plan
    for step, task in tasks.items():
        await _rank_task(context, task, add_ranks(plan.step(step).rank, rank), step=step)
    log.info("chain.ranked", chain=str(uid), rank=rank, tasks=len(tasks))


async def _rank_task(context: ChainsContext, task: UUID, rank: float, *, step: str) -> None:
    try:
        await context.wms.prioritise_task(task, rank=rank)
    except Conflict:
        log.debug("task.ended_before_its_rank", task=str(task))
    except NotFound:
        raise NotAvailable(
            f"the rank applies to later steps, but the task of step {step} is still being sent to"
            " the WMS: set the rank again"
        ) from None
