"""Match one unmatched data set again."""

from uuid import UUID

from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.chains.intake import Rematched
from wfms.intake.db import intake
from wfms.intake.usecases.context import IntakeContext
from wfms.intake.usecases.new_decision import DatasetNotUnmatched, decide_again


async def rematch_dataset(
    context: IntakeContext, uid: UUID, visibility: Visibility = ALL
) -> Rematched:
    """Match an unmatched data set again, or remove it if it was deleted.

    Raises:
        DatasetNotUnmatched: It is not among the unmatched ones that the caller sees.
        Gone: It was deleted.
        NotAvailable: Another service does not answer.
    """
    async with context.database.connection() as connection:
        if not await intake.is_visible_unmatched(connection, uid, visibility):
            raise DatasetNotUnmatched(uid)
    templates = (await context.operator.list_templates()).templates
    return await decide_again(context, uid, templates=templates)
