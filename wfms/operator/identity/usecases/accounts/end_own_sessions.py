"""End all sessions of the person in every browser; tokens stay valid."""

import structlog

from sluice.servicekit.access.principal import Person
from wfms.operator.context import OperatorContext
from wfms.operator.identity.db.person_tokens import end_all_sessions

log = structlog.get_logger(__name__)


async def end_own_sessions(context: OperatorContext, person: Person) -> None:
    """End all sessions of the person in every browser; tokens stay valid."""
    async with context.database.transaction() as transaction:
        await end_all_sessions(transaction.connection, person.name)
    log.info("person.signed_out_everywhere", person=person.name)
