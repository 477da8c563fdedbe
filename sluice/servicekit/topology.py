"""The queues of the contracts, as the transport wants them."""

from sluice.contracts.messages import EVENTS, QUEUES
from sluice.servicekit.transport.base import Queue, Topology


def sluice_topology() -> Topology:
    return Topology.of(*(Queue(name, events=types & EVENTS) for name, types in QUEUES.items()), events=sorted(EVENTS))
