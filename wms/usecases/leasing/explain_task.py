"""Explain why a task does not run, or how it ended."""

from uuid import UUID

from sluice.contracts.jobs.tasks import Explanation
from wms.db.tasks.ranking import find_boost
from wms.db.tasks.status import get_task_status
from wms.domain import explanations
from wms.usecases.context import WmsContext
from wms.usecases.leasing.explanation_facts import get_explanation_facts


async def explain_task(context: WmsContext, uid: UUID) -> Explanation:
    """Return the explanation of a task.

    Raises:
        NotFound: There is no such task.
    """
    async with context.database.connection() as connection:
        status = await get_task_status(connection, uid)
        facts = await get_explanation_facts(context, connection, uid)
        text = explanations.explain_task_state(status, facts)
        boost = await find_boost(connection, uid)
    return Explanation(
        text=text
        if boost is None
        else explanations.add_boost(text, by=boost.by, reason=boost.reason)
    )
