"""Discards a chain: nobody needs what it made, or will make."""

from uuid import UUID

from sluice.servicekit.database import Database
from wfms.chains.db import chains
from wfms.chains.usecases.advance_chain import advance_chain
from wfms.chains.usecases.cancel_chain import UnknownChain


async def discard_chain(database: Database, uid: UUID) -> None:
    """Effect: as soon as the chain is over (at once if it is) its outputs, logs and input are
    released as the release rule says; it is not stopped. Repeating it is fine, and gives an output
    that another chain was reading another chance. Messages: those of ``advance_chain``. Errors:
    ``UnknownChain``."""
    async with database.transaction() as transaction:
        if not await chains.mark_discarded(transaction.connection, uid):
            raise UnknownChain(uid)
        await advance_chain(transaction, uid, now=database.clock.now())
