"""Dead letters in RabbitMQ: looked at, put back, or dropped, from the oldest on."""

import asyncio
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime

from aio_pika.abc import AbstractChannel, AbstractIncomingMessage

from sluice.servicekit.transport.base import DeadLetter, Queue
from sluice.servicekit.transport.rabbitmq_consumer import durable, id_of, last_reason
from sluice.servicekit.transport.rabbitmq_link import Post, RabbitLink, answer
from sluice.servicekit.transport.rabbitmq_topology import dead_queue
from sluice.servicekit.transport.reasons import undelivered

# So many letters are in hand together.
WINDOW = 500
# Seconds without a letter after which those that are counted but do not come are left to whoever has them in hand.
QUIET = 2.0


@dataclass(slots=True)
class Visit:
    """``waiting``: the letters that were there at its beginning; ``removed``: those of them that are there no more."""

    queue: Queue
    channel: AbstractChannel
    waiting: int
    removed: int = 0

    async def windows(self, most: int | None = None) -> AsyncGenerator[Sequence[AbstractIncomingMessage], None]:
        """The letters in order; what is put back or dies meanwhile stands behind them and is not met again."""
        left = self.waiting if most is None else min(self.waiting, most)
        while left > 0:
            window = await _window(self.channel, self.queue, min(left, WINDOW))
            if not window:
                return
            left -= len(window)
            yield window

    async def remove(self, letters: Sequence[AbstractIncomingMessage]) -> None:
        for letter in letters:
            await answer(letter.ack())
        self.removed += len(letters)


class DeadLetters:
    """One visit at a time, so that none misses what another has in hand."""

    def __init__(self, link: RabbitLink) -> None:
        self._link = link
        self._visiting = asyncio.Lock()

    async def count(self, queue: Queue) -> int:
        async with self._visiting:
            channel = await self._link.channel()
            try:
                return await _waiting(channel, queue)
            finally:
                await asyncio.gather(channel.close(), return_exceptions=True)

    async def read(self, queue: Queue, limit: int) -> Sequence[DeadLetter]:
        letters: list[DeadLetter] = []
        async with self._visit(queue) as visit, aclosing(visit.windows(limit)) as windows:
            async for window in windows:
                letters.extend(_letter(queue, message) for message in window)
        return letters

    async def requeue(self, queue: Queue, ids: Collection[str] | None) -> int:
        """Stored in the queue first and taken from the dead letters then: rather twice than never."""
        async with self._visit(queue) as visit, aclosing(visit.windows()) as windows:
            async for window in windows:
                chosen = _chosen(window, ids)
                await self._link.publish([Post(queue.name, durable(id_of(one), one.body)) for one in chosen])
                await visit.remove(chosen)
        return visit.removed

    async def drop(self, queue: Queue, ids: Collection[str] | None) -> int:
        async with self._visit(queue) as visit, aclosing(visit.windows()) as windows:
            async for window in windows:
                await visit.remove(_chosen(window, ids))
        return visit.removed

    @asynccontextmanager
    async def _visit(self, queue: Queue) -> AsyncGenerator[Visit, None]:
        """Closing the channel puts back what is still in hand; the next visit finds it there."""
        async with self._visiting:
            channel = await self._link.channel()
            try:
                visit = Visit(queue, channel, await _waiting(channel, queue))
                yield visit
            finally:
                await asyncio.gather(channel.close(), return_exceptions=True)
            await self._until_back(visit)

    async def _until_back(self, visit: Visit) -> None:
        """The broker puts back a moment after it has said that the channel is closed."""
        channel = await self._link.channel()
        try:
            async with asyncio.timeout(QUIET):
                while await _waiting(channel, visit.queue) < visit.waiting - visit.removed:  # noqa: ASYNC110 - in another process
                    await asyncio.sleep(0.01)
        except TimeoutError:  # somebody else has them in hand, or has removed them
            return
        finally:
            await asyncio.gather(channel.close(), return_exceptions=True)


async def _window(channel: AbstractChannel, queue: Queue, size: int) -> Sequence[AbstractIncomingMessage]:
    """Each window has a consumer of its own, because a consumer is given no more than its bound until it answers."""
    arrived: asyncio.Queue[AbstractIncomingMessage] = asyncio.Queue()
    await answer(channel.set_qos(prefetch_count=size))
    dead = await answer(channel.get_queue(dead_queue(queue.name), ensure=False))
    tag = await answer(dead.consume(arrived.put))
    window: list[AbstractIncomingMessage] = []
    try:
        while len(window) < size:
            async with asyncio.timeout(QUIET):
                window.append(await arrived.get())
    except TimeoutError:
        pass
    await answer(dead.cancel(tag))
    while not arrived.empty():
        window.append(arrived.get_nowait())
    return window


async def _waiting(channel: AbstractChannel, queue: Queue) -> int:
    declared = await answer(channel.declare_queue(dead_queue(queue.name), passive=True))
    return declared.declaration_result.message_count or 0


def _chosen(window: Sequence[AbstractIncomingMessage], ids: Collection[str] | None) -> Sequence[AbstractIncomingMessage]:
    return window if ids is None else [message for message in window if id_of(message) in ids]


def _letter(queue: Queue, message: AbstractIncomingMessage) -> DeadLetter:
    """Letters moved by a consumer carry their reason; those moved by the broker were handed out too often."""
    reason, died_at = last_reason(message.headers), message.timestamp
    deaths = message.headers.get("x-death")
    if isinstance(deaths, list) and deaths and isinstance(deaths[0], dict):
        reason = undelivered(queue.delivery_limit, reason)
        when = deaths[0].get("time")
        died_at = when if isinstance(when, datetime) else None
    return DeadLetter(id_of(message), queue.name, message.body, reason or "unknown", died_at)
