"""The message transport on PostgreSQL, for the embedded mode.

It uses one table, claims with SKIP LOCKED, and wakes consumers with NOTIFY. A delivered message
carries the identity of its consumer and a lease. The lease is renewed while the consumer lives, so
a slow handler causes no duplicate. When the consumer's connection ends, its messages come again
within about a second.
"""

import asyncio
from collections.abc import AsyncGenerator, Collection, Sequence

import structlog

from sluice.contracts.messaging.queues import Queue
from sluice.servicekit.transport import postgres_schema as sql
from sluice.servicekit.transport.base import (
    Delivery,
    Message,
    Topology,
    TransportUnavailable,
    UnknownDestination,
)
from sluice.servicekit.transport.dead_letters import DeadLetter
from sluice.servicekit.transport.postgres_consumer import PostgresConsumer
from sluice.servicekit.transport.postgres_link import PostgresLink, PostgresSession

log = structlog.get_logger(__name__)

CONSUME_PAUSE = 0.2


class PostgresTransport:
    """Message transport on PostgreSQL (see ``sluice.servicekit.transport.base.Transport``)."""

    def __init__(self, url: str, topology: Topology) -> None:
        self._topology = topology
        self._link = PostgresLink(url)
        self._session = PostgresSession(self._link, self._identity_changed)
        self._consumers: set[PostgresConsumer] = set()
        self._stopping = False

    async def start(self) -> None:
        """Connect and create the tables."""
        try:
            await self._link.open()
            await self._session.start()
        except TransportUnavailable:
            await self._link.close()
            raise

    async def stop(self) -> None:
        """Disconnect."""
        if self._stopping:
            return
        self._stopping = True
        await self._session.stop()
        for consumer in self._consumers:
            consumer.wake()
        await self._link.close()

    async def send(self, messages: Sequence[Message]) -> None:
        """Store all messages durably."""
        stored = [
            (queue, message.id, message.body)
            for message in messages
            for queue in self._topology.receivers(message.destination)
        ]
        if stored:
            await self._link.fetch(sql.SEND, *map(list, zip(*stored, strict=True)), durable=True)

    def consume(self, queue: str, *, prefetch: int) -> AsyncGenerator[Sequence[Delivery], None]:
        """Yield batches of deliveries."""
        return self._consume(self._queue(queue), prefetch)

    async def depth(self, queue: str) -> int:
        """Return the number of waiting messages."""
        rows = await self._link.fetch(sql.DEPTH, self._queue(queue).name)
        return int(rows[0][0])

    async def dead_letters(self, queue: str, *, limit: int) -> Sequence[DeadLetter]:
        """Return the oldest dead letters."""
        rows = await self._link.fetch(sql.DEAD_LETTERS, self._queue(queue).name, limit)
        return [DeadLetter(**row) for row in rows]

    async def count_dead(self, queue: str) -> int:
        """Return the number of dead letters."""
        rows = await self._link.fetch(sql.COUNT_DEAD, self._queue(queue).name)
        return int(rows[0][0])

    async def requeue(self, queue: str, ids: Collection[str] | None = None) -> int:
        """Return dead letters to their queue and return their number."""
        return await self._move(sql.REQUEUE, queue, ids)

    async def drop(self, queue: str, ids: Collection[str] | None = None) -> int:
        """Delete dead letters and return their number."""
        return await self._move(sql.DROP, queue, ids)

    async def _move(self, statement: str, queue: str, ids: Collection[str] | None) -> int:
        rows = await self._link.fetch(
            statement, self._queue(queue).name, None if ids is None else list(ids), durable=True
        )
        return int(rows[0][0])

    async def ping(self) -> None:
        """Check that the database answers."""
        if self._session.holder is None:
            raise TransportUnavailable("no session with the database")
        await self._link.fetch("SELECT 1")

    async def _consume(
        self, queue: Queue, prefetch: int
    ) -> AsyncGenerator[Sequence[Delivery], None]:
        consumer = PostgresConsumer(self._link, self._session, queue, prefetch)
        self._consumers.add(consumer)
        try:
            await consumer.open()
            while not self._stopping:
                try:
                    batch = await consumer.take()
                except TransportUnavailable as error:
                    log.warning("transport.cannot_receive", queue=queue.name, reason=error.what)
                    await asyncio.sleep(CONSUME_PAUSE)
                    continue
                if batch:
                    yield batch
        finally:
            self._consumers.discard(consumer)
            await consumer.close()

    def _identity_changed(self) -> None:
        for consumer in self._consumers:
            consumer.forget()

    def _queue(self, name: str) -> Queue:
        try:
            return self._topology.queues[name]
        except KeyError:
            raise UnknownDestination(name) from None
