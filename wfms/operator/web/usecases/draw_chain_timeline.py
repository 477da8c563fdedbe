"""The timeline of a chain as an image."""

from uuid import UUID

from wfms.operator.context import OperatorContext
from wfms.operator.web.domain.timeline_drawing import draw_timeline


async def draw_chain_timeline(context: OperatorContext, uid: UUID) -> str:
    """Return the timeline of a chain as an SVG document.

    Raises:
        NotFound: There is no such chain.
        NotAvailable: The chain service or the WMS does not answer.
    """
    chain = await context.chains.get_chain(uid)
    timeline = await context.wms.get_timeline(uid)
    return draw_timeline(timeline, title=f"{chain.dataset_name} through {chain.template}")
