"""Waiting and working times of jobs."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from sluice.contracts.jobs.times import WorkTimes
from wfms.operator.chains.domain.timeline_drawing import draw_timeline
from wfms.operator.context import OperatorContext

#: The default period in seconds.
DEFAULT_PERIOD = 86_400.0


async def read_template_times(
    context: OperatorContext, template: str | None, *, since: datetime | None = None
) -> WorkTimes:
    """Return the times of one or all templates since a moment, by default in the last day.

    Raises:
        NotAvailable: The WMS does not answer.
    """
    begin = since or datetime.now(UTC) - timedelta(seconds=DEFAULT_PERIOD)
    return await context.wms.get_times(template=template, since=begin)


async def draw_chain(context: OperatorContext, uid: UUID) -> str:
    """Return the timeline of a chain as an SVG document.

    Raises:
        NotFound: There is no such chain.
        NotAvailable: The chain service or the WMS does not answer.
    """
    chain = await context.chains.get_chain(uid)
    timeline = await context.wms.get_timeline(uid)
    return draw_timeline(timeline, title=f"{chain.dataset_name} through {chain.template}")
