"""Discard a chain whose data is not needed."""

from uuid import UUID

from sluice.servicekit.database import Database
from wfms.chains.db import chains
from wfms.chains.usecases.chains.advance_chain import advance_chain
from wfms.chains.usecases.chains.get_chain import UnknownChain


async def discard_chain(database: Database, uid: UUID) -> None:
    """Discard a chain, without stopping it. Repeating it is fine.

    As soon as the chain is over, its outputs, logs and input are released as the release rule says.
    A repetition also releases an output that another chain was still reading before.

    Raises:
        UnknownChain: There is no such chain.
    """
    async with database.transaction() as transaction:
        if not await chains.mark_discarded(transaction.connection, uid):
            raise UnknownChain(uid)
        await advance_chain(transaction, uid, now=database.clock.now())
