"""Dead letters in RabbitMQ: read, requeued or dropped, from the oldest on."""

import asyncio
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime

from aio_pika.abc import AbstractChannel, AbstractIncomingMessage

from sluice.contracts.messaging.queues import Queue
from sluice.servicekit.transport.dead_letters import DeadLetter, unanswered_reason
from sluice.servicekit.transport.rabbitmq_consumer import durable, get_message_id, last_reason
from sluice.servicekit.transport.rabbitmq_layout import dead_queue
from sluice.servicekit.transport.rabbitmq_link import Post, RabbitLink, acknowledge_message, answer

# The number of dead letters that one window fetches.
WINDOW = 500
# Seconds without a letter after which the wait for further counted letters ends. Another consumer
# holds them.
QUIET = 2.0


@dataclass(slots=True)
class Window:
    """Fetched letters. ``channel`` is None once it is closed."""

    channel: AbstractChannel | None
    letters: list[AbstractIncomingMessage]

    async def remove(self, chosen_messages: Collection[AbstractIncomingMessage]) -> int:
        """Remove letters and return their number.

        One acknowledgement covers all letters of the window, because a quorum queue handles single
        acknowledgements one after the other. Those that are pending when the channel closes have no
        effect.
        """
        if len(chosen_messages) == len(self.letters):
            await acknowledge_message(self.letters[-1], and_before=True)
        else:
            for letter in chosen_messages:
                await acknowledge_message(letter)
        removed = {id(letter) for letter in chosen_messages}
        self.letters = [letter for letter in self.letters if id(letter) not in removed]
        if not self.letters:
            await self.close()
        return len(chosen_messages)

    async def close(self) -> None:
        """Close the channel, which returns the remaining letters to the queue."""
        channel, self.channel = self.channel, None
        if channel is not None:
            await asyncio.gather(channel.close(), return_exceptions=True)


class Visit:
    """One pass over the dead letters of a queue. ``waiting`` is their number at its beginning.

    Each window has its own channel. The channels are closed one after the other at the end, so
    that the letters keep their order. RabbitMQ 3.10 returns the messages of several consumers of
    one channel in any order.
    """

    def __init__(self, link: RabbitLink, queue: Queue, waiting_messages: int) -> None:
        self.waiting = waiting_messages
        self._link = link
        self._queue = queue
        self._windows: list[Window] = []

    async def windows(self, limit: int | None = None) -> AsyncGenerator[Window, None]:
        """Yield the letters in order.

        Letters that are returned or die meanwhile are queued behind them and are not visited.
        """
        remaining = self.waiting if limit is None else min(self.waiting, limit)
        while remaining > 0:
            window = Window(await self._link.channel(), [])
            self._windows.append(window)
            await _fill(window, self._queue, min(remaining, WINDOW))
            remaining -= len(window.letters)
            if not window.letters:
                return
            yield window

    async def put_back(self) -> None:
        """Return the remaining letters in order.

        The broker returns them a moment after it has confirmed that a channel is closed.
        """
        expected = await _count(self._link, self._queue)
        for window in self._windows:
            if window.channel is not None:
                await window.close()
                expected += len(window.letters)
                await self._until(expected)

    async def drop(self) -> None:
        """Close all windows, in any order."""
        for window in self._windows:
            await window.close()

    async def _until(self, expected_count: int) -> None:
        try:
            async with asyncio.timeout(QUIET):
                while await _count(self._link, self._queue) < expected_count:  # noqa: ASYNC110 - in another process
                    await asyncio.sleep(0.01)
        except TimeoutError:  # another consumer holds them, or has removed them
            return


class RabbitDeadLetters:
    """The dead letters of a broker.

    Only one visit runs at a time, because a visit does not see the letters that another has
    fetched.
    """

    def __init__(self, link: RabbitLink) -> None:
        self._link = link
        self._visiting = asyncio.Lock()

    async def count(self, queue: Queue) -> int:
        """Return the number of dead letters of a queue."""
        async with self._visiting:
            return await _count(self._link, queue)

    async def read(self, queue: Queue, limit: int) -> Sequence[DeadLetter]:
        """Return the oldest dead letters of a queue."""
        letters: list[DeadLetter] = []
        async with self._visit(queue) as visit, aclosing(visit.windows(limit)) as windows:
            async for window in windows:
                letters.extend(_to_dead_letter(queue, message) for message in window.letters)
        return letters

    async def requeue(self, queue: Queue, ids: Collection[str] | None) -> int:
        """Requeue letters and return their number.

        They are stored in the queue before they are removed, so that a failure can only duplicate
        them.
        """
        removed = 0
        async with self._visit(queue) as visit, aclosing(visit.windows()) as windows:
            async for window in windows:
                chosen = _select_letters(window.letters, ids)
                await self._link.publish(
                    [
                        Post(queue.name, durable(get_message_id(letter), letter.body))
                        for letter in chosen
                    ]
                )
                removed += await window.remove(chosen)
        return removed

    async def drop(self, queue: Queue, ids: Collection[str] | None) -> int:
        """Delete letters and return their number."""
        removed = 0
        async with self._visit(queue) as visit, aclosing(visit.windows()) as windows:
            async for window in windows:
                removed += await window.remove(_select_letters(window.letters, ids))
        return removed

    @asynccontextmanager
    async def _visit(self, queue: Queue) -> AsyncGenerator[Visit, None]:
        """Yield a visit. The letters that remain at its end are returned for the next visit."""
        async with self._visiting:
            visit = Visit(self._link, queue, await _count(self._link, queue))
            try:
                yield visit
                await visit.put_back()
            finally:
                await visit.drop()


async def _fill(window: Window, queue: Queue, size: int) -> None:
    """Fetch up to ``size`` letters, which is also the prefetch limit of the channel."""
    channel = window.channel
    assert channel is not None  # noqa: S101 - a new window
    arrived: asyncio.Queue[AbstractIncomingMessage] = asyncio.Queue()
    await answer(channel.set_qos(prefetch_count=size))
    dead = await answer(channel.get_queue(dead_queue(queue.name), ensure=False))
    tag = await answer(dead.consume(arrived.put))
    try:
        while len(window.letters) < size:
            async with asyncio.timeout(QUIET):
                window.letters.append(await arrived.get())
    except TimeoutError:
        pass
    await answer(dead.cancel(tag))
    while not arrived.empty():
        window.letters.append(arrived.get_nowait())


async def _count(link: RabbitLink, queue: Queue) -> int:
    """Return the number of letters that no consumer holds."""
    channel = await link.channel()
    try:
        declared = await answer(channel.declare_queue(dead_queue(queue.name), passive=True))
        return declared.declaration_result.message_count or 0
    finally:
        await asyncio.gather(channel.close(), return_exceptions=True)


def _select_letters(
    window: Sequence[AbstractIncomingMessage], ids: Collection[str] | None
) -> Sequence[AbstractIncomingMessage]:
    return (
        window if ids is None else [message for message in window if get_message_id(message) in ids]
    )


def _to_dead_letter(queue: Queue, message: AbstractIncomingMessage) -> DeadLetter:
    """Return a message as a dead letter.

    A consumer adds the reason to a letter that it moves. The broker moves a letter that was
    delivered too often.
    """
    reason, died_at = last_reason(message.headers), message.timestamp
    deaths = message.headers.get("x-death")
    if isinstance(deaths, list) and deaths and isinstance(deaths[0], dict):
        reason = unanswered_reason(queue.delivery_limit, reason)
        when = deaths[0].get("time")
        died_at = when if isinstance(when, datetime) else None
    return DeadLetter(
        get_message_id(message), queue.name, message.body, reason or "unknown", died_at
    )
