"""The queues of the contracts as a topology of the transport."""

from sluice.contracts.messaging.messages import EVENTS
from sluice.contracts.messaging.queues import QUEUES, QueueDeclaration
from sluice.servicekit.transport.base import Queue, Topology

#: The maximum number of waiting wake-ups. One has the same effect as many.
_MAX_WAKES = 1000


def sluice_topology() -> Topology:
    """Return the topology of all queues and events."""
    return Topology.of(*map(_to_queue, QUEUES.values()), events=sorted(EVENTS))


def _to_queue(queue: QueueDeclaration) -> Queue:
    if queue.events:
        return Queue(queue.name, queue.events, queue.delivery_limit, limit=_MAX_WAKES, wakes=True)
    return Queue(queue.name, delivery_limit=queue.delivery_limit)
