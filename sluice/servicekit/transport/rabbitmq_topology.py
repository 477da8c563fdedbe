"""What the RabbitMQ transport declares in a broker.

=====================  ==============  =====================================================================
``sluice.events``      topic exchange  event types; every queue is bound for those it takes
``<queue>``            quorum queue    one for each queue; what it gives up goes to ``<queue>.dead``
``<queue>.dead``       quorum queue    dead letters, kept for a person
``sluice.rest.<ms>``   fan-out + queue messages that rest between two attempts, then return to their queue
=====================  ==============  =====================================================================
"""

from aio_pika import ExchangeType
from aio_pika.abc import AbstractChannel
from pamqp.common import FieldTable

from sluice.servicekit.transport.base import Queue, Topology
from sluice.servicekit.transport.retry_pauses import PAUSES

EVENTS = "sluice.events"
# The default exchange, which routes by a queue's name.
DIRECT = ""
# Reading dead letters and putting them back counts as a delivery, and some brokers limit these unless told otherwise.
UNLIMITED = 2**31 - 1

# Dead-lettering that keeps the message until the receiving queue has confirmed it.
_SAFE_DEAD_LETTERING: FieldTable = {
    "x-queue-type": "quorum",
    "x-overflow": "reject-publish",
    "x-dead-letter-strategy": "at-least-once",
    "x-dead-letter-exchange": DIRECT,
}


def dead_queue(queue: str) -> str:
    return f"{queue}.dead"


def resting_place(pause: float) -> str:
    """Name of the exchange (and queue) where messages rest for ``pause`` seconds."""
    return f"sluice.rest.{round(pause * 1000)}"


async def declare(channel: AbstractChannel, topology: Topology) -> None:
    """Declares everything; the same again changes nothing."""
    await channel.declare_exchange(EVENTS, ExchangeType.TOPIC, durable=True)
    for pause in PAUSES:
        await _declare_resting_place(channel, pause)
    for queue in topology.queues.values():
        await _declare_queue(channel, queue)


async def _declare_queue(channel: AbstractChannel, queue: Queue) -> None:
    dead: FieldTable = {"x-queue-type": "quorum", "x-delivery-limit": UNLIMITED}
    await channel.declare_queue(dead_queue(queue.name), durable=True, arguments=dead)
    arguments = _SAFE_DEAD_LETTERING | {
        "x-dead-letter-routing-key": dead_queue(queue.name),
        # RabbitMQ counts redeliveries: a limit of 3 gives 4 deliveries.
        "x-delivery-limit": queue.delivery_limit - 1,
    }
    declared = await channel.declare_queue(queue.name, durable=True, arguments=arguments)
    for event in sorted(queue.events):
        await declared.bind(EVENTS, routing_key=event)


async def _declare_resting_place(channel: AbstractChannel, pause: float) -> None:
    name = resting_place(pause)
    # Without a dead-letter routing key the message keeps its own, which is the name of the queue that it returns to.
    arguments = _SAFE_DEAD_LETTERING | {"x-message-ttl": round(pause * 1000)}
    await channel.declare_exchange(name, ExchangeType.FANOUT, durable=True)
    queue = await channel.declare_queue(name, durable=True, arguments=arguments)
    await queue.bind(name)
