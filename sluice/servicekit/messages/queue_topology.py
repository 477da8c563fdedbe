"""The queues of the contracts as a topology of the transport."""

from sluice.contracts.messaging.messages import EVENTS
from sluice.contracts.messaging.queues import QUEUES
from sluice.servicekit.transport.base import Topology


def sluice_topology() -> Topology:
    """Return the topology of all queues and events."""
    return Topology.of(*QUEUES.values(), events=sorted(EVENTS))
