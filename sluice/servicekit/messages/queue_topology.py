"""The queues of the contracts as a topology of the transport."""

from sluice.contracts.messaging.messages import EVENTS
from sluice.contracts.messaging.queues import DELIVERY_LIMIT, DELIVERY_LIMITS, QUEUES
from sluice.servicekit.transport.base import Queue, Topology

#: The maximum number of waiting wake-ups. One has the same effect as many.
_MAX_WAKES = 1000


def sluice_topology() -> Topology:
    """Return the topology of all queues and events."""
    return Topology.of(
        *(_queue(name, types) for name, types in QUEUES.items()), events=sorted(EVENTS)
    )


def _queue(name: str, types: frozenset[str]) -> Queue:
    deliveries = DELIVERY_LIMITS.get(name, DELIVERY_LIMIT)
    if types <= EVENTS:
        return Queue(name, types, deliveries, limit=_MAX_WAKES, wakes=True)
    return Queue(name, types & EVENTS, deliveries)
