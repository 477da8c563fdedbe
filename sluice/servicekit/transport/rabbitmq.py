"""The message transport on RabbitMQ (3.10 or newer).

It uses quorum queues, publisher confirms, delivery limits and dead letters.
"""

import asyncio
from collections.abc import AsyncGenerator, Collection, Sequence

import structlog
from aio_pika.abc import AbstractConnection

from sluice.contracts.messaging.queues import Queue
from sluice.scheduling.backoff import pause_after
from sluice.servicekit.transport import rabbitmq_declare
from sluice.servicekit.transport.base import (
    Delivery,
    Message,
    Topology,
    TransportUnavailable,
    UnknownDestination,
)
from sluice.servicekit.transport.dead_letters import DeadLetter
from sluice.servicekit.transport.rabbitmq_consumer import RabbitConsumer, durable
from sluice.servicekit.transport.rabbitmq_dead_letters import RabbitDeadLetters
from sluice.servicekit.transport.rabbitmq_layout import build_layout
from sluice.servicekit.transport.rabbitmq_link import Post, RabbitLink, answer

log = structlog.get_logger(__name__)

# Seconds between two attempts to receive after a loss: the first pause, which doubles up to the
# longest.
FIRST_PAUSE = 0.2
MAX_PAUSE = 5.0


class RabbitTransport:
    """Message transport on RabbitMQ (see ``sluice.servicekit.transport.base.Transport``).

    ``declare`` says that the login may declare queues. If not, an administrator declares them, and
    each new connection checks that they exist.
    """

    def __init__(self, url: str, topology: Topology, *, declare: bool = True) -> None:
        self._topology = topology
        self._layout = build_layout(topology)
        self._declare = declare
        self._link = RabbitLink(url, self._prepare)
        self._letters = RabbitDeadLetters(self._link)
        self._consumers: set[RabbitConsumer] = set()
        self._stopping = asyncio.Event()

    async def start(self) -> None:
        """Connect, and declare or check the topology."""
        await self.ping()

    async def stop(self) -> None:
        """Disconnect."""
        self._stopping.set()
        for consumer in self._consumers:
            consumer.wake()
        await self._link.close()

    async def send(self, messages: Sequence[Message]) -> None:
        """Store all messages durably."""
        # The broker reports a message that some queue must store and none did, so that nothing is
        # lost silently.
        posts = [
            Post(
                message.destination,
                durable(message.id, message.body),
                mandatory=bool(self._topology.receivers(message.destination)),
            )
            for message in messages
        ]
        await self._link.publish(posts)

    def consume(self, queue: str, *, prefetch: int) -> AsyncGenerator[Sequence[Delivery], None]:
        """Yield batches of deliveries."""
        return self._consume(self._queue(queue), prefetch)

    async def depth(self, queue: str) -> int:
        """Return the number of waiting messages."""
        name = self._queue(queue).name
        channel = await self._link.channel()
        try:
            declared = await answer(channel.declare_queue(name, passive=True))
            return declared.declaration_result.message_count or 0
        finally:
            await asyncio.gather(channel.close(), return_exceptions=True)

    async def count_dead(self, queue: str) -> int:
        """Return the number of dead letters."""
        return await self._letters.count(self._queue(queue))

    async def dead_letters(self, queue: str, *, limit: int) -> Sequence[DeadLetter]:
        """Return the oldest dead letters."""
        return await self._letters.read(self._queue(queue), limit)

    async def requeue(self, queue: str, ids: Collection[str] | None = None) -> int:
        """Return dead letters to their queue and return their number."""
        return await self._letters.requeue(self._queue(queue), ids)

    async def drop(self, queue: str, ids: Collection[str] | None = None) -> int:
        """Delete dead letters and return their number."""
        return await self._letters.drop(self._queue(queue), ids)

    async def ping(self) -> None:
        """Check that the broker answers and takes messages."""
        self._link.require_no_alarm()
        channel = await self._link.channel()
        await answer(channel.close())

    async def _prepare(self, connection: AbstractConnection) -> None:
        prepare = rabbitmq_declare.declare if self._declare else rabbitmq_declare.check_declared
        await prepare(connection, self._layout)

    async def _consume(
        self, queue: Queue, prefetch: int
    ) -> AsyncGenerator[Sequence[Delivery], None]:
        failures = 0
        while not self._stopping.is_set():
            consumer = RabbitConsumer(self._link, queue)
            self._consumers.add(consumer)
            try:
                await consumer.open(prefetch)
                failures = 0
                while not self._stopping.is_set():
                    batch = await consumer.take()
                    if batch:
                        yield batch
            except TransportUnavailable as error:
                if self._stopping.is_set():
                    return
                failures += 1
                log.warning(
                    "transport.cannot_receive",
                    queue=queue.name,
                    reason=error.what,
                    failures=failures,
                )
                await self._pause(pause_after(failures, first=FIRST_PAUSE, max_pause=MAX_PAUSE))
            finally:
                self._consumers.discard(consumer)
                await consumer.close()

    async def _pause(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
        except TimeoutError:
            return

    def _queue(self, name: str) -> Queue:
        try:
            return self._topology.queues[name]
        except KeyError:
            raise UnknownDestination(name) from None
