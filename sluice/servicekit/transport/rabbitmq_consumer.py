"""The receiving side of the RabbitMQ transport: one channel with its bound of unanswered messages,
and the answers.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256

import structlog
from aio_pika import DeliveryMode, Message
from aio_pika.abc import AbstractChannel, AbstractIncomingMessage, HeadersType

from sluice.servicekit.transport.base import Queue, TransportUnavailable
from sluice.servicekit.transport.dead_letters import readable_reason, unanswered_reason
from sluice.servicekit.transport.rabbitmq_layout import dead_queue, resting_place
from sluice.servicekit.transport.rabbitmq_link import Post, RabbitLink, acknowledge_message, answer
from sluice.servicekit.transport.retry_pauses import rest_after

log = structlog.get_logger(__name__)

# Headers of a message that rested or died: attempts before this stay in the queue, and why the last
# one failed.
ATTEMPTS = "x-sluice-attempts"
REASON = "x-sluice-reason"


def attempts_before(headers: HeadersType) -> int:
    """Deliveries before this one: those before the last rest, and those the broker counted
    since.
    """
    return _number(headers.get(ATTEMPTS)) + _number(headers.get("x-delivery-count"))


def last_reason(headers: HeadersType) -> str | None:
    reason = headers.get(REASON)
    return reason if isinstance(reason, str) else None


def durable(message_id: str, body: bytes, headers: HeadersType | None = None) -> Message:
    return Message(
        body,
        message_id=message_id,
        headers=headers or {},
        delivery_mode=DeliveryMode.PERSISTENT,
        content_type="application/json",
        timestamp=datetime.now(UTC),
    )


def id_of(message: AbstractIncomingMessage) -> str:
    """Its id, or for a stranger's message without one a name that it keeps."""
    return message.message_id or f"unnamed-{sha256(message.body).hexdigest()[:16]}"


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


@dataclass(frozen=True, slots=True, eq=False)
class RabbitDelivery:
    """One message in hand."""

    link: RabbitLink
    queue: Queue
    message: AbstractIncomingMessage

    @property
    def message_id(self) -> str:
        return id_of(self.message)

    @property
    def body(self) -> bytes:
        return self.message.body

    @property
    def attempt(self) -> int:
        return attempts_before(self.message.headers) + 1

    async def ack(self) -> None:
        try:
            await acknowledge_message(self.message)
        except TransportUnavailable as error:
            self._comes_again(error)

    async def retry(self, reason: str) -> None:
        if self.attempt >= self.queue.delivery_limit:
            await self.reject(reason)
            return
        await self._move(resting_place(self.queue.name, rest_after(self.attempt)), reason)

    async def reject(self, reason: str) -> None:
        log.warning(
            "transport.message_died", queue=self.queue.name, message=self.message_id, reason=reason
        )
        await self._move(dead_queue(self.queue.name), reason)

    async def _move(self, exchange: str, reason: str) -> None:
        """Stores a copy elsewhere, then drops the original; a loss in between gives a double, never
        a gap.
        """
        headers: HeadersType = {ATTEMPTS: self.attempt, REASON: readable_reason(reason)}
        copy = durable(self.message_id, self.body, headers)
        try:
            await self.link.publish([Post(exchange, copy)])
        except TransportUnavailable as error:
            self._comes_again(error)
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
    """Receives from one queue over one channel, until that channel is lost."""

    def __init__(self, link: RabbitLink, queue: Queue) -> None:
        self._link = link
        self._queue = queue
        self._channel: AbstractChannel | None = None
        self._arrived: deque[AbstractIncomingMessage] = deque()
        self._wake = asyncio.Event()
        self.lost = False

    async def open(self, prefetch: int) -> None:
        channel = self._channel = await self._link.channel()
        channel.close_callbacks.add(self._closed)
        await answer(channel.set_qos(prefetch_count=prefetch))
        queue = await answer(channel.get_queue(self._queue.name, ensure=False))
        await answer(queue.consume(self._arrive))
        underlay = await answer(channel.get_underlay_channel())
        underlay.on_consumer_cancel_callbacks.add(self._closed)

    async def close(self) -> None:
        """Closing the channel hands back what is unanswered."""
        if self._channel is not None:
            self._channel.close_callbacks.discard(self._closed)
            await asyncio.gather(self._channel.close(), return_exceptions=True)

    def wake(self) -> None:
        self._wake.set()

    async def take(self) -> Sequence[RabbitDelivery]:
        """What has arrived, or none when woken without a message; raises ``TransportUnavailable``
        when the channel is gone.
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
