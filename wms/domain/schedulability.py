"""Whether jobs that are ready will ever find a node: of those that are there, and of those that can
be launched."""

from collections.abc import Sequence
from dataclasses import dataclass

from wms.domain.explanations import why_none_fits
from wms.domain.matching import Demand, PilotNode, misfit


@dataclass(frozen=True, slots=True)
class NodeSupply:
    """``present``: nodes whose pilots have not signed off; the last of them registered ``newest``
    seconds ago. ``launchable``: further ones that could come; None: nobody has said. ``grace``:
    seconds for which another one may still be on its way."""

    present: Sequence[PilotNode]
    newest: float
    launchable: Sequence[PilotNode] | None
    grace: float


def why_never(demand: Demand, supply: NodeSupply) -> str | None:
    """A sentence, where no node will ever fit; None: one does, or may come."""
    nodes = [*supply.present, *(supply.launchable or ())]
    if not nodes or any(misfit(demand, node) is None for node in nodes):
        return None
    if demand.waited < supply.grace or (supply.present and supply.newest < supply.grace):
        return None
    last = "; nor does one that can be launched" if supply.launchable and supply.present else ""
    return f"no node fits: a job {why_none_fits(demand, nodes)}{last}"
