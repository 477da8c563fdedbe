"""The queues of the contracts, as the transport wants them."""

from sluice.contracts.messages import EVENTS, QUEUES
from sluice.servicekit.transport.base import Queue, Topology

#: Wake-ups that may wait; one is as good as many.
_MOST_WAKES = 1000


def sluice_topology() -> Topology:
    return Topology.of(
        *(_queue(name, types) for name, types in QUEUES.items()), events=sorted(EVENTS)
    )


def _queue(name: str, types: frozenset[str]) -> Queue:
    if types <= EVENTS:
        return Queue(name, events=types, limit=_MOST_WAKES, wakes=True)
    return Queue(name, events=types & EVENTS)
