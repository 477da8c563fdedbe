"""What the RabbitMQ transport needs in a broker, as one description: the transport declares it, or
looks whether it is there, and ``rabbitmq_definitions`` writes it down for an administrator.

- ``<queue>``: quorum queue and its exchange; what it gives up goes to ``<queue>.dead``
- ``<queue>.dead``: quorum queue and its exchange: dead letters, kept for a person
- ``<queue>.rest.<ms>``: quorum queue and its exchange: messages between two attempts, which return
  to ``<queue>`` after the pause
- ``<event type>``: exchange alone; every queue that takes the event is bound to it

Every exchange is a fan-out, so the right to write to one is the right to send to one place:
RabbitMQ gives rights on exchanges and queues, and those on routing keys are passed by with a CC
header.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sluice.servicekit.transport.base import Queue, Topology
from sluice.servicekit.transport.retry_pauses import pauses_within

# Reading dead letters and putting them back counts as a delivery, and some brokers limit these
# unless told otherwise.
UNLIMITED = 2**31 - 1

Arguments = Mapping[str, str | int]


@dataclass(frozen=True, slots=True)
class QuorumQueue:
    """``sources``: the exchanges it is bound to."""

    name: str
    arguments: Arguments
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """Durable fan-out exchanges, durable quorum queues; ``exchanges`` holds every queue's
    sources.
    """

    exchanges: tuple[str, ...]
    queues: tuple[QuorumQueue, ...]


def dead_queue(queue: str) -> str:
    return f"{queue}.dead"


def resting_place(queue: str, pause: float) -> str:
    """Name of the exchange (and queue) where messages of ``queue`` rest for ``pause`` seconds."""
    return f"{queue}.rest.{round(pause * 1000)}"


def resting_places(queue: Queue) -> dict[str, float]:
    """Name → pause in seconds, for those that its delivery limit lets a message come to."""
    return {
        resting_place(queue.name, pause): pause for pause in pauses_within(queue.delivery_limit)
    }


def layout_of(topology: Topology) -> Layout:
    queues = tuple(part for queue in topology.queues.values() for part in _queues_for(queue))
    sources = {source for queue in queues for source in queue.sources}
    return Layout(exchanges=tuple(sorted(sources | topology.events)), queues=queues)


def _queues_for(queue: Queue) -> list[QuorumQueue]:
    dead = dead_queue(queue.name)
    # RabbitMQ counts redeliveries: a limit of 3 gives 4 deliveries.
    own: Arguments = {"x-delivery-limit": queue.delivery_limit - 1, **_gives_up_to(dead)}
    if queue.wakes:
        # What is pushed out of a full queue must not fill the dead letters.
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
            for name, pause in resting_places(queue).items()
        ),
    ]


def _gives_up_to(exchange: str) -> Arguments:
    """Dead-lettering that keeps the message until the receiving queue has confirmed it; the broker
    wants this overflow for it.
    """
    return {
        "x-queue-type": "quorum",
        "x-overflow": "reject-publish",
        "x-dead-letter-strategy": "at-least-once",
        "x-dead-letter-exchange": exchange,
    }
