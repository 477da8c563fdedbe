"""The nodes that jobs may run on: present pilots and nodes that can be launched."""

from sluice.servicekit.database import Connection
from wms.db.tasks.explanations import list_present_nodes
from wms.domain.scheduling.schedulability import NodeSupply
from wms.usecases.context import WmsContext


async def get_node_supply(context: WmsContext, connection: Connection) -> NodeSupply:
    """Return the nodes of present pilots, and those that can be launched."""
    present = await list_present_nodes(connection)
    return NodeSupply(
        present.nodes, present.newest_age, context.launchable, context.rules.fit_grace
    )
