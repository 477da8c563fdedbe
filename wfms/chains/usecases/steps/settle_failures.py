"""Release the data that was kept for failed jobs of a chain, after somebody has decided."""

from datetime import datetime
from uuid import UUID

from sluice.servicekit.database import Transaction
from wfms.chains.db import chains
from wfms.chains.usecases.chains.advance_chain import advance_chain


async def settle_failures(transaction: Transaction, uid: UUID, *, now: datetime) -> None:
    """Release what only the failed jobs of the chain kept. Doing it again changes nothing."""
    await chains.set_unsettled(transaction.connection, uid, unsettled=False)
    await advance_chain(transaction, uid, now=now)
