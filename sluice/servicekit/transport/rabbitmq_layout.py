"""The layout that the RabbitMQ transport needs in a broker.

The transport declares or checks it, and ``rabbitmq_definitions`` writes it for an administrator.

- ``<queue>``: quorum queue with its exchange. Rejected messages go to ``<queue>.dead``.
- ``<queue>.dead``: quorum queue with its exchange, for dead letters.
- ``<queue>.rest.<ms>``: quorum queue with its exchange, for messages between two attempts. They
return to ``<queue>`` after the pause.
- ``<event type>``: exchange only. Every queue that receives the event is bound to it.

Every exchange is a fan-out, so permission to write to an exchange means permission to send to one
destination. RabbitMQ has no reliable permissions on routing keys: a CC header bypasses them.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sluice.contracts.messaging.queues import Queue
from sluice.servicekit.transport.base import Topology
from sluice.servicekit.transport.retry_pauses import pauses_within

# Reading and requeueing dead letters counts as a delivery, which some brokers limit by default.
UNLIMITED = 2**31 - 1

Arguments = Mapping[str, str | int]


@dataclass(frozen=True, slots=True)
class QuorumQueue:
    """A quorum queue. ``sources`` are the exchanges that it is bound to."""

    name: str
    arguments: Arguments
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """Durable fan-out exchanges and durable quorum queues.

    ``exchanges`` includes the sources of every queue.
    """

    exchanges: tuple[str, ...]
    queues: tuple[QuorumQueue, ...]


def dead_queue(queue: str) -> str:
    """Return the name of the queue for the dead letters of ``queue``."""
    return f"{queue}.dead"


def delay_queue(queue: str, pause: float) -> str:
    """Return the name of the exchange (and queue) for messages that pause for ``pause`` seconds."""
    return f"{queue}.rest.{round(pause * 1000)}"


def delay_queues(queue: Queue) -> dict[str, float]:
    """Return the retry queues that messages of ``queue`` can reach, with their pauses."""
    return {delay_queue(queue.name, pause): pause for pause in pauses_within(queue.delivery_limit)}


def build_layout(topology: Topology) -> Layout:
    """Return the layout of a topology."""
    queues = tuple(part for queue in topology.queues.values() for part in _build_queues(queue))
    sources = {source for queue in queues for source in queue.sources}
    return Layout(exchanges=tuple(sorted(sources | topology.events)), queues=queues)


def _build_queues(queue: Queue) -> list[QuorumQueue]:
    dead = dead_queue(queue.name)
    # RabbitMQ counts redeliveries: a limit of 3 means 4 deliveries.
    own: Arguments = {"x-delivery-limit": queue.delivery_limit - 1, **_gives_up_to(dead)}
    if queue.wakes:
        # Messages that a full queue drops must not fill the dead letters.
        own = {
            "x-queue-type": "quorum",
            "x-delivery-limit": queue.delivery_limit - 1,
            "x-overflow": "drop-head",
        }
    return [
        QuorumQueue(queue.name, own, (queue.name, *sorted(queue.events))),
        QuorumQueue(
            dead,
            {
                "x-queue-type": "quorum",
                "x-delivery-limit": UNLIMITED,
                "x-overflow": "reject-publish",
            },
            (dead,),
        ),
        *(
            QuorumQueue(
                name, {"x-message-ttl": round(pause * 1000), **_gives_up_to(queue.name)}, (name,)
            )
            for name, pause in delay_queues(queue).items()
        ),
    ]


def _gives_up_to(exchange: str) -> Arguments:
    """Return arguments for dead-lettering that loses no message.

    A message stays until the receiving queue has confirmed it. The broker requires this overflow
    mode for it.
    """
    return {
        "x-queue-type": "quorum",
        "x-overflow": "reject-publish",
        "x-dead-letter-strategy": "at-least-once",
        "x-dead-letter-exchange": exchange,
    }
