"""List the ties between the latest versions of templates."""

import asyncio

from sluice.contracts.chains.intake import Tie
from wfms.operator.context import OperatorContext
from wfms.operator.templates.usecases.list_templates import list_templates


async def list_current_ties(context: OperatorContext) -> list[Tie]:
    """Return the ties between the latest versions of templates.

    Raises:
        NotAvailable: The intake does not answer.
    """
    ties_of_all_versions, templates = await asyncio.gather(
        context.intake.list_ties(), list_templates(context.database)
    )
    latest_ids = {template.id for template in templates}
    return [
        tie for tie in ties_of_all_versions.ties if {tie.template_id, tie.other_id} <= latest_ids
    ]
