"""Acknowledge a chain that failed, or that finished with failed jobs."""

from uuid import UUID

from sluice.contracts.chains.attention import Acknowledge, AlreadyAcknowledged
from sluice.contracts.common.problems import Conflict
from sluice.contracts.common.states import ChainState
from sluice.servicekit.database import Database
from wfms.chains.db import attention, chains
from wfms.chains.usecases.chains.get_chain import UnknownChain
from wfms.chains.usecases.steps.settle_failures import settle_failures


class NothingToAcknowledge(Conflict):
    """The chain needs no decision."""

    def __init__(self, uid: UUID, state: ChainState) -> None:
        super().__init__(
            f"chain {uid} is {state}, and needs no decision: there is nothing to acknowledge",
            uid=uid,
            state=state,
        )


async def acknowledge_chain(database: Database, uid: UUID, request: Acknowledge) -> None:
    """Record who has seen that the chain, or some of its jobs, failed. Repeating it is fine.

    What was kept for the failed jobs of a finished chain is released.

    Raises:
        UnknownChain: There is no such chain.
        NothingToAcknowledge: It needs no decision.
        AlreadyAcknowledged: Somebody else has acknowledged it.
    """
    now = database.clock.now()
    async with database.transaction() as transaction:
        locked = await chains.lock_chain_row(transaction.connection, uid)
        if await attention.mark_acknowledged(transaction.connection, uid, by=request.by, now=now):
            if locked is not None and locked.state is ChainState.FINISHED:
                await settle_failures(transaction, uid, now=now)
            return
        state_and_first = await attention.find_acknowledgement(transaction.connection, uid)
    if state_and_first is None:
        raise UnknownChain(uid)
    state, first = state_and_first
    if first is None:
        raise NothingToAcknowledge(uid, state)
    if first.by != request.by:
        raise AlreadyAcknowledged(f"chain {uid}", first.by, first.at)
