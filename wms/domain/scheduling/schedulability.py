"""Whether ready jobs will ever find a node, among those present or launchable."""

from collections.abc import Sequence
from dataclasses import dataclass

from wms.domain.explanations import explain_no_fit
from wms.domain.scheduling.matching import Demand, PilotNode


@dataclass(frozen=True, slots=True)
class NodeSupply:
    """The nodes that exist or can be launched.

    Attributes:
        present: Nodes whose pilots have not signed off.
        newest_age: Seconds since the latest registration.
        launchable: Further nodes that could be launched; None if that is not configured.
        grace: Seconds for which another node may still be on its way.
    """

    present: Sequence[PilotNode]
    newest_age: float
    launchable: Sequence[PilotNode] | None
    grace: float


def explain_unschedulable(demand: Demand, supply: NodeSupply) -> str | None:
    """Return why no node will ever fit, as a sentence, or None if one fits or may come."""
    nodes = [*supply.present, *(supply.launchable or ())]
    if not nodes or any(demand.find_misfit(node) is None for node in nodes):
        return None
    if demand.waited < supply.grace or (supply.present and supply.newest_age < supply.grace):
        return None
    launchable_text = (
        "; nor does one that can be launched" if supply.launchable and supply.present else ""
    )
    return f"no node fits: a job {explain_no_fit(demand, nodes)}{launchable_text}"
