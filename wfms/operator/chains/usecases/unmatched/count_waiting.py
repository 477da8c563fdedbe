"""Count the unmatched data sets that a template would take."""

import structlog

from sluice.contracts.common.problems import ServiceError
from wfms.operator.chains.usecases.unmatched.review_unmatched import MAX_UNMATCHED, review_unmatched
from wfms.operator.context import OperatorContext
from wfms.operator.templates.domain.template import StoredTemplate

log = structlog.get_logger(__name__)


async def count_waiting(context: OperatorContext, template: StoredTemplate) -> int:
    """Return how many unmatched data sets the template would take now, or 0 if it is not known."""
    if not template.plan.match or template.disabled_at is not None:
        return 0
    try:
        waiting = await review_unmatched(context, limit=MAX_UNMATCHED, template=template.name)
        return waiting.total or 0
    except ServiceError as error:
        log.warning("intake.unmatched_unavailable", reason=error.detail)
        return 0
