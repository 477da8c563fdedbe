"""Consumers of the RabbitMQ transport: one channel with a limit of unanswered messages."""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256

import structlog
from aio_pika import DeliveryMode, Message
from aio_pika.abc import AbstractChannel, AbstractIncomingMessage, HeadersType

from sluice.contracts.messaging.queues import Queue
from sluice.servicekit.transport.base import TransportUnavailable
from sluice.servicekit.transport.dead_letters import readable_reason, unanswered_reason
from sluice.servicekit.transport.rabbitmq_layout import dead_queue, delay_queue
from sluice.servicekit.transport.rabbitmq_link import Post, RabbitLink, acknowledge_message, answer
from sluice.servicekit.transport.retry_pauses import pause_after_attempt

log = structlog.get_logger(__name__)

# Headers of a message that was retried or died: its attempts before it returned to the queue, and
# the reason for the last failure.
ATTEMPTS = "x-sluice-attempts"
REASON = "x-sluice-reason"


def attempts_before(headers: HeadersType) -> int:
    """Return the number of earlier deliveries.

    It adds the attempts before the last retry pause and the deliveries that the broker has counted
    since.
    """
    return _number(headers.get(ATTEMPTS)) + _number(headers.get("x-delivery-count"))


def last_reason(headers: HeadersType) -> str | None:
    """Return the reason for the last failure, or None."""
    reason = headers.get(REASON)
    return reason if isinstance(reason, str) else None


def durable(message_id: str, body: bytes, headers: HeadersType | None = None) -> Message:
    """Return a persistent message."""
    return Message(
        body,
        message_id=message_id,
        headers=headers or {},
        delivery_mode=DeliveryMode.PERSISTENT,
        content_type="application/json",
        timestamp=datetime.now(UTC),
    )


def get_message_id(message: AbstractIncomingMessage) -> str:
    """Return the id of a message, or a stable substitute for a foreign message without one."""
    return message.message_id or f"unnamed-{sha256(message.body).hexdigest()[:16]}"


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


@dataclass(frozen=True, slots=True, eq=False)
class RabbitDelivery:
    """A delivered message."""

    link: RabbitLink
    queue: Queue
    message: AbstractIncomingMessage

    @property
    def message_id(self) -> str:
        """Return the id of the message."""
        return get_message_id(self.message)

    @property
    def body(self) -> bytes:
        """Return the body of the message."""
        return self.message.body

    @property
    def attempt(self) -> int:
        """Return the number of the delivery, from 1."""
        return attempts_before(self.message.headers) + 1

    async def ack(self) -> None:
        """Acknowledge the message."""
        try:
            await acknowledge_message(self.message)
        except TransportUnavailable as error:
            self._comes_again(error)

    async def retry(self, reason: str) -> None:
        """Move the message to a retry queue, or to the dead letters at the delivery limit."""
        if self.attempt >= self.queue.delivery_limit:
            await self.reject(reason)
            return
        await self._move(delay_queue(self.queue.name, pause_after_attempt(self.attempt)), reason)

    async def reject(self, reason: str) -> None:
        """Move the message to the dead letters."""
        log.warning(
            "transport.message_died", queue=self.queue.name, message=self.message_id, reason=reason
        )
        await self._move(dead_queue(self.queue.name), reason)

    async def _move(self, exchange: str, reason: str) -> None:
        """Store a copy elsewhere and then drop the original.

        A loss in between duplicates the message and never loses it.
        """
        headers: HeadersType = {ATTEMPTS: self.attempt, REASON: readable_reason(reason)}
        copy = durable(self.message_id, self.body, headers)
        try:
            await self.link.publish([Post(exchange, copy)])
        except TransportUnavailable as error:
            self._comes_again(error)
            # It would come at once, and die of deliveries that failed for want of memory.
            await self.link.wait_for_end_of_alarm(self.message)
            await asyncio.gather(self.message.nack(requeue=True), return_exceptions=True)
        else:
            await self.ack()

    def _comes_again(self, error: TransportUnavailable) -> None:
        log.warning(
            "transport.message_comes_again",
            queue=self.queue.name,
            message=self.message_id,
            reason=error.what,
        )


class RabbitConsumer:
    """Consumer of one queue over one channel, until the channel is lost."""

    def __init__(self, link: RabbitLink, queue: Queue) -> None:
        self._link = link
        self._queue = queue
        self._channel: AbstractChannel | None = None
        self._arrived: deque[AbstractIncomingMessage] = deque()
        self._wake = asyncio.Event()
        self.lost = False

    async def open(self, prefetch: int) -> None:
        """Open the channel and begin to receive."""
        channel = self._channel = await self._link.channel()
        channel.close_callbacks.add(self._closed)
        await answer(channel.set_qos(prefetch_count=prefetch))
        queue = await answer(channel.get_queue(self._queue.name, ensure=False))
        await answer(queue.consume(self._arrive))
        underlay = await answer(channel.get_underlay_channel())
        underlay.on_consumer_cancel_callbacks.add(self._closed)

    async def close(self) -> None:
        """Close the channel, which returns unanswered messages to the queue."""
        if self._channel is not None:
            self._channel.close_callbacks.discard(self._closed)
            await asyncio.gather(self._channel.close(), return_exceptions=True)

    def wake(self) -> None:
        """Wake the consumer."""
        self._wake.set()

    async def take(self) -> Sequence[RabbitDelivery]:
        """Return the messages that have arrived, or none after a wake without a message.

        Raises:
            TransportUnavailable: The channel is lost.
        """
        await self._wake.wait()
        self._wake.clear()
        if self.lost:
            raise TransportUnavailable("the channel was closed")
        batch = [RabbitDelivery(self._link, self._queue, message) for message in self._arrived]
        self._arrived.clear()
        limit = self._queue.delivery_limit
        for delivery in [delivery for delivery in batch if delivery.attempt > limit]:
            await delivery.reject(unanswered_reason(limit, last_reason(delivery.message.headers)))
        return [delivery for delivery in batch if delivery.attempt <= limit]

    async def _arrive(self, message: AbstractIncomingMessage) -> None:
        self._arrived.append(message)
        self._wake.set()

    def _closed(self, *_: object) -> None:
        self.lost = True
        self._wake.set()
