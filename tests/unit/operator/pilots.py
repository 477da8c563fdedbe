"""Pilots as the WMS lists them."""

from datetime import timedelta
from uuid import uuid4

from sluice.contracts.common.states import PilotState
from sluice.contracts.pilots.nodes import NodeResources
from sluice.contracts.pilots.pilot_list import Pilot
from tests.unit.operator.chains import NOW


def make_pilot(
    name: str = "p",
    *,
    state: PilotState = PilotState.LOST,
    host: str = "h",
    registered: int = 0,
    leased: int = 0,
) -> Pilot:
    """Return a pilot; ``registered`` is in minutes after NOW."""
    node = NodeResources(cores=2, ram=4096, disk=1000)
    at = NOW + timedelta(minutes=registered)
    return Pilot(
        uid=uuid4(),
        name=name,
        host=host,
        state=state,
        slots=2,
        resources=node,
        registered_at=at,
        seen_at=at,
        leased=leased,
    )
