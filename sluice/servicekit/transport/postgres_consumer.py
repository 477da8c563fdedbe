"""Consumers of the PostgreSQL transport: delivered messages and their answers."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from sluice.contracts.messaging.queues import Queue
from sluice.servicekit.transport import postgres_schema as sql
from sluice.servicekit.transport.base import TransportUnavailable
from sluice.servicekit.transport.dead_letters import readable_reason, unanswered_reason
from sluice.servicekit.transport.postgres_link import PostgresLink, PostgresSession
from sluice.servicekit.transport.retry_pauses import pause_after_attempt

log = structlog.get_logger(__name__)

# Seconds for which a message stays with a consumer without a renewal. The lease is renewed three
# times as often.
LEASE = 30.0
# Seconds between polls, for messages whose pause is over and for lost wake-ups.
POLL_INTERVAL = 1.0
# Attempts to store an answer. After them the lease expires, and the message comes again.
ANSWER_TRIES = 3
ANSWER_PAUSE = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class PostgresDelivery:
    """A delivered message. ``holder`` is the identity under which it was claimed."""

    consumer: "PostgresConsumer"
    holder: int
    seq: int
    message_id: str
    body: bytes
    attempt: int
    last_reason: str | None

    async def ack(self) -> None:
        """Acknowledge the message."""
        await self.consumer.acknowledge(self)

    async def retry(self, reason: str) -> None:
        """Return the message to its queue, or make it a dead letter at the delivery limit."""
        if self.attempt >= self.consumer.queue.delivery_limit:
            await self.consumer.dead_letter(self, reason)
        else:
            await self.consumer.release(
                [self], pause=pause_after_attempt(self.attempt), reason=readable_reason(reason)
            )

    async def reject(self, reason: str) -> None:
        """Move the message to the dead letters."""
        await self.consumer.dead_letter(self, reason)


class PostgresConsumer:
    """Consumer that claims messages of one queue, at most ``prefetch`` unanswered at a time."""

    def __init__(
        self, link: PostgresLink, session: PostgresSession, queue: Queue, prefetch: int
    ) -> None:
        self.queue = queue
        self._link = link
        self._session = session
        self._prefetch = prefetch
        self._open_deliveries: set[PostgresDelivery] = set()
        self._wake = asyncio.Event()
        self._acks: list[PostgresDelivery] = []
        self._acking = asyncio.Lock()
        self._renewer: asyncio.Task[None] | None = None
        self._timers: set[asyncio.TimerHandle] = set()

    async def open(self) -> None:
        """Begin to listen for wake-ups and to renew leases."""
        await self._session.listen(self.queue.name, self._wake.set)
        self._renewer = asyncio.create_task(self._renew(), name=f"renew-{self.queue.name}")

    async def close(self) -> None:
        """Stop, and return unanswered messages to the queue."""
        self._session.unlisten(self.queue.name, self._wake.set)
        for timer in self._timers:
            timer.cancel()
        if self._renewer is not None:
            self._renewer.cancel()
            await asyncio.gather(self._renewer, return_exceptions=True)
        if self._open_deliveries:
            await self.release(list(self._open_deliveries), pause=0.0, reason=None)

    def wake(self) -> None:
        """Wake the consumer."""
        self._wake.set()

    def forget(self) -> None:
        """Forget the delivered messages after a change of identity. They come again."""
        self._open_deliveries.clear()
        self._wake.set()

    async def take(self) -> Sequence[PostgresDelivery]:
        """Return the next messages, or none after a wake or a polling interval without any."""
        free = self._prefetch - len(self._open_deliveries)
        self._wake.clear()
        batch = await self._claim(free) if free > 0 and self._session.holder is not None else []
        if not batch:
            await self._pause(POLL_INTERVAL)
        return batch

    async def acknowledge(self, delivery: PostgresDelivery) -> None:
        """Remove a message. Concurrent acknowledgements are batched."""
        self._acks.append(delivery)
        async with self._acking:
            batch, self._acks = self._acks, []
            for own in _by_holder(batch):
                await self._answer(sql.ACK, own)

    async def dead_letter(self, delivery: PostgresDelivery, reason: str) -> None:
        """Move a message to the dead letters."""
        log.warning(
            "transport.message_died",
            queue=self.queue.name,
            message=delivery.message_id,
            reason=reason,
        )
        await self._answer(sql.DEAD_LETTER, [delivery], readable_reason(reason))

    async def release(
        self, batch: list[PostgresDelivery], *, pause: float, reason: str | None
    ) -> None:
        """Return messages to the queue after a pause."""
        for own in _by_holder(batch):
            await self._answer(sql.RELEASE, own, pause, reason)
        if pause:
            self._wake_after(pause)

    def _wake_after(self, pause: float) -> None:
        def wake_now() -> None:
            self._timers.discard(timer)
            self._wake.set()

        timer = asyncio.get_running_loop().call_later(pause, wake_now)
        self._timers.add(timer)

    async def _claim(self, free: int) -> list[PostgresDelivery]:
        holder = self._session.holder
        rows = await self._link.fetch(sql.CLAIM, self.queue.name, free, holder, LEASE)
        if holder is None or holder != self._session.holder:
            return []  # the identity has changed meanwhile; the messages come again
        claimed = [
            PostgresDelivery(
                self, holder, row["seq"], row["id"], row["body"], row["attempts"], row["reason"]
            )
            for row in sorted(rows, key=lambda row: int(row["seq"]))
        ]
        self._open_deliveries.update(claimed)
        limit = self.queue.delivery_limit
        for delivery in [delivery for delivery in claimed if delivery.attempt > limit]:
            await self.dead_letter(delivery, unanswered_reason(limit, delivery.last_reason))
        return [delivery for delivery in claimed if delivery.attempt <= limit]

    async def _answer(
        self, statement: str, batch: list[PostgresDelivery], *arguments: object
    ) -> None:
        seqs = [delivery.seq for delivery in batch]
        attempts = [delivery.attempt for delivery in batch]
        try:
            for remaining_tries in reversed(range(ANSWER_TRIES)):
                try:
                    await self._link.fetch(
                        statement, self.queue.name, seqs, attempts, batch[0].holder, *arguments
                    )
                    return
                except TransportUnavailable as error:
                    if not remaining_tries or batch[0].holder != self._session.holder:
                        ids = [delivery.message_id for delivery in batch]
                        log.warning(
                            "messages come again",
                            queue=self.queue.name,
                            messages=ids,
                            reason=error.what,
                        )
                        return
                    await asyncio.sleep(ANSWER_PAUSE)
        finally:
            self._open_deliveries.difference_update(batch)
            self._wake.set()

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(LEASE / 3)
            deliveries = list(self._open_deliveries)
            if deliveries:
                seqs = [delivery.seq for delivery in deliveries]
                attempts = [delivery.attempt for delivery in deliveries]
                try:
                    await self._link.fetch(
                        sql.RENEW, self.queue.name, seqs, attempts, deliveries[0].holder, LEASE
                    )
                except TransportUnavailable as error:
                    log.warning("leases not renewed", queue=self.queue.name, reason=error.what)

    async def _pause(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            return


def _by_holder(batch: Sequence[PostgresDelivery]) -> Sequence[list[PostgresDelivery]]:
    """Group deliveries by identity, because a statement answers for one identity."""
    groups: dict[int, list[PostgresDelivery]] = {}
    for delivery in batch:
        groups.setdefault(delivery.holder, []).append(delivery)
    return list(groups.values())
