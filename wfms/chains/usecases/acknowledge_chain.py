"""Acknowledges a chain that failed: notes who has seen it."""

from uuid import UUID

from sluice.contracts.attention import Acknowledge, AlreadySeen
from sluice.contracts.problems import Conflict
from sluice.contracts.states import ChainState
from sluice.servicekit.database import Database
from wfms.chains.db import attention
from wfms.chains.usecases.cancel_chain import UnknownChain


class NothingToAcknowledge(Conflict):
    def __init__(self, uid: UUID, state: ChainState) -> None:
        super().__init__(
            f"chain {uid} has not failed, it is {state}: there is nothing to acknowledge",
            uid=uid,
            state=state,
        )


async def acknowledge_chain(database: Database, uid: UUID, asked: Acknowledge) -> None:
    """Precondition: the chain has failed. Effect: it needs nobody's attention any more, and says
    who has seen it and when; repeating it changes nothing. Messages: none. Errors:
    ``UnknownChain``, ``NothingToAcknowledge``, ``AlreadySeen`` (by somebody else)."""
    now = database.clock.now()
    async with database.transaction() as transaction:
        if await attention.mark_acknowledged(transaction.connection, uid, by=asked.by, now=now):
            return
        found = await attention.seen(transaction.connection, uid)
    if found is None:
        raise UnknownChain(uid)
    state, first = found
    if state is not ChainState.FAILED:
        raise NothingToAcknowledge(uid, state)
    if first is not None and first.by != asked.by:
        raise AlreadySeen(f"chain {uid}", first.by, first.at)
