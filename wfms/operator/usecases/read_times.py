"""Reads how long work waits and takes."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from sluice.contracts.times import Timeline, WorkTimes
from wfms.operator.domain.timeline_drawing import draw_timeline
from wfms.operator.domain.times_drawing import draw_times
from wfms.operator.usecases.context import OperatorContext

#: Seconds; where nobody says since when.
LATELY = 86_400.0


async def read_chain_times(context: OperatorContext, chains: list[UUID]) -> WorkTimes:
    """Effect: none. Raises ``NotAvailable``."""
    return await context.wms.times(chains)


async def read_template_times(
    context: OperatorContext, template: str | None, *, since: datetime | None = None
) -> WorkTimes:
    """Of all that it did since then, by default in a day; None: of all templates. Effect: none.
    Raises ``NotAvailable``.
    """
    begin = since or datetime.now(UTC) - timedelta(seconds=LATELY)
    return await context.wms.times(template=template, since=begin)


async def read_timeline(context: OperatorContext, chain: UUID) -> Timeline:
    """Effect: none. Raises ``NotFound``, ``NotAvailable``."""
    return await context.wms.timeline(chain)


async def draw_chain(context: OperatorContext, chain: UUID) -> str:
    """The time line as a picture. Raises ``NotFound``, ``NotAvailable``."""
    found = await context.chains.chain(chain)
    timeline = await context.wms.timeline(chain)
    return draw_timeline(timeline, title=f"{found.dataset_name} through {found.template}")


def draw(times: WorkTimes, *, title: str) -> str:
    return draw_times(times, title=title)
