"""The message transport on RabbitMQ (3.10 or newer): quorum queues, publisher confirms, delivery limits, dead letters."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from datetime import datetime

import structlog
from aio_pika.abc import AbstractIncomingMessage

from sluice.servicekit.transport.base import (
    DeadLetter,
    Delivery,
    Message,
    Queue,
    Topology,
    TransportUnavailable,
    UnknownDestination,
)
from sluice.servicekit.transport.rabbitmq_consumer import RabbitConsumer, durable, last_reason
from sluice.servicekit.transport.rabbitmq_link import Post, RabbitLink, answer
from sluice.servicekit.transport.rabbitmq_topology import DIRECT, EVENTS, dead_queue
from sluice.servicekit.transport.retry_pauses import undelivered_reason

log = structlog.get_logger(__name__)

# Seconds between two attempts to receive again after a loss: short at first, then doubling.
FIRST_PAUSE = 0.1
LONGEST_PAUSE = 5.0


#: Pauses, seconds, while a broker under load that has just made a virtual host or a queue answers "internal error".
_SETTLING = (0.2, 0.5, 1.0, 2.0, 4.0, 8.0)


class RabbitTransport:
    """See ``sluice.servicekit.transport.base.Transport``."""

    def __init__(self, url: str, topology: Topology) -> None:
        self._topology = topology
        self._link = RabbitLink(url, topology)
        self._consumers: set[RabbitConsumer] = set()
        self._stopping = asyncio.Event()

    async def start(self) -> None:
        for pause in _SETTLING:
            try:
                return await self.ping()
            except TransportUnavailable as error:
                if "INTERNAL_ERROR" not in error.what:
                    raise
                await asyncio.sleep(pause)
        await self.ping()
        return None

    async def stop(self) -> None:
        self._stopping.set()
        for consumer in self._consumers:
            consumer.wake()
        await self._link.close()

    async def send(self, messages: Sequence[Message]) -> None:
        posts: list[Post] = []
        for message in messages:
            receivers = self._topology.receivers(message.destination)
            is_queue = message.destination in self._topology.queues
            exchange = DIRECT if is_queue else EVENTS
            # A message that some queue must take and none took is reported by the broker, so that nothing is lost silently.
            posts.append((exchange, message.destination, durable(message.id, message.body), bool(receivers)))
        await self._link.publish(posts)

    def consume(self, queue: str, *, prefetch: int) -> AsyncGenerator[Sequence[Delivery], None]:
        return self._consume(self._queue(queue), prefetch)

    async def depth(self, queue: str) -> int:
        name = self._queue(queue).name
        channel = await self._link.channel()
        try:
            declared = await answer(channel.declare_queue(name, passive=True))
            return declared.declaration_result.message_count or 0
        finally:
            await asyncio.gather(channel.close(), return_exceptions=True)

    async def dead_letters(self, queue: str, *, limit: int) -> Sequence[DeadLetter]:
        known = self._queue(queue)
        channel = await self._link.channel()
        letters: list[DeadLetter] = []
        try:
            dead = await answer(channel.get_queue(dead_queue(known.name), ensure=False))
            while len(letters) < limit:
                message = await answer(dead.get(fail=False))
                if message is None:
                    break
                letters.append(_dead_letter(known, message))
        finally:
            # Closing puts back what was only looked at.
            await asyncio.gather(channel.close(), return_exceptions=True)
        return letters

    async def ping(self) -> None:
        channel = await self._link.channel()
        await answer(channel.close())

    async def _consume(self, queue: Queue, prefetch: int) -> AsyncGenerator[Sequence[Delivery], None]:
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
                log.warning("transport.cannot_receive", queue=queue.name, reason=error.what, failures=failures)
                await self._pause(min(FIRST_PAUSE * 2**failures, LONGEST_PAUSE))
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


def _dead_letter(queue: Queue, message: AbstractIncomingMessage) -> DeadLetter:
    """Letters moved by a consumer carry their reason; those moved by the broker were handed out too often."""
    reason, died_at = last_reason(message.headers), message.timestamp
    deaths = message.headers.get("x-death")
    if isinstance(deaths, list) and deaths and isinstance(deaths[0], dict):
        reason = undelivered_reason(queue.delivery_limit, reason)
        when = deaths[0].get("time")
        died_at = when if isinstance(when, datetime) else None
    return DeadLetter(message.message_id or "", queue.name, message.body, reason or "unknown", died_at)
