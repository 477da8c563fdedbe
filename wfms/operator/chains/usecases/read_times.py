"""Waiting and working times of jobs."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from sluice.contracts.jobs.times import Timeline, WorkTimes
from wfms.operator.chains.domain.timeline_drawing import draw_timeline
from wfms.operator.chains.domain.times_drawing import draw_times
from wfms.operator.context import OperatorContext

#: The default period in seconds.
DEFAULT_PERIOD = 86_400.0


async def read_chain_times(context: OperatorContext, chains: list[UUID]) -> WorkTimes:
    """Return the times of chains.

    Raises:
        NotAvailable: The WMS does not answer.
    """
    return await context.wms.times(chains)


async def read_template_times(
    context: OperatorContext, template: str | None, *, since: datetime | None = None
) -> WorkTimes:
    """Return the times of one or all templates since a moment, by default in the last day.

    Raises:
        NotAvailable: The WMS does not answer.
    """
    begin = since or datetime.now(UTC) - timedelta(seconds=DEFAULT_PERIOD)
    return await context.wms.times(template=template, since=begin)


async def read_timeline(context: OperatorContext, chain: UUID) -> Timeline:
    """Return the timeline of a chain.

    Raises:
        NotFound: There is no such chain.
        NotAvailable: The WMS does not answer.
    """
    return await context.wms.timeline(chain)


async def draw_chain(context: OperatorContext, uid: UUID) -> str:
    """Return the timeline of a chain as an SVG document.

    Raises:
        NotFound: There is no such chain.
        NotAvailable: The chain service or the WMS does not answer.
    """
    chain = await context.chains.chain(uid)
    timeline = await context.wms.timeline(uid)
    return draw_timeline(timeline, title=f"{chain.dataset_name} through {chain.template}")


def draw(times: WorkTimes, *, title: str) -> str:
    """Return the times as an SVG document."""
    return draw_times(times, title=title)
