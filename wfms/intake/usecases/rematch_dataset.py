"""Matches a data set again that fitted no template."""

from uuid import UUID

from sluice.clients.dms import DmsClient
from sluice.clients.operator import OperatorClient
from sluice.contracts.intake import Rematched
from sluice.contracts.problems import NotFound
from sluice.servicekit.database import Database
from wfms.intake.db import intake
from wfms.intake.domain.matching import Matched, decide
from wfms.intake.usecases.record_decision import record_decision


class NotUnmatched(NotFound):
    """The data set is not among the unmatched: it has a chain, or was never looked at."""

    def __init__(self, uid: UUID) -> None:
        super().__init__(f"data set {uid} is not among the unmatched ones; to process it again, request a chain", dataset=uid)


async def rematch_dataset(database: Database, uid: UUID, *, dms: DmsClient, operator: OperatorClient) -> Rematched:
    """Precondition: the data set is among the unmatched. Effect: it is decided upon again. Messages: none. Errors:
    ``NotUnmatched``; ``NotFound`` where the DMS does not know it, ``NotAvailable``."""
    async with database.connection() as connection:
        if not await intake.has_unmatched(connection, uid):
            raise NotUnmatched(uid)
    dataset = await dms.dataset(uid)
    decision = decide(dataset, (await operator.templates()).templates)
    async with database.transaction() as transaction:
        if not await intake.delete_unmatched(transaction.connection, uid):
            raise NotUnmatched(uid)
        await record_decision(transaction.connection, dataset, decision, now=database.clock.now())
    if isinstance(decision, Matched):
        return Rematched(template=decision.template.name)
    return Rematched(template=None, reason=decision.reason)
