"""Consumers: messages from a queue, each applied once, in its effect's transaction, acknowledged
after commit (invariant 2)."""

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import pydantic
import structlog

from sluice.backoff import pause_after
from sluice.contracts.base import Contract
from sluice.contracts.messages import PAYLOADS, CloudEvent
from sluice.contracts.problems import NotAvailable, Unprocessable
from sluice.contracts.wording import sentence_of
from sluice.servicekit.database import PASSING, Database, Transaction
from sluice.servicekit.lifecycle import cancel_and_wait
from sluice.servicekit.logging import log_ids
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.transport.base import Delivery, Transport
from sluice.visible_text import quoted

log = structlog.get_logger(__name__)

#: Seconds between two tries while the database is away: the first, doubled up to the longest.
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
#: What is wrong with a message is said of so many of its places.
MOST_FAULTS = 5
#: Messages in a batch.
MAX_BATCH = 64
#: Seconds after which a transaction takes no further message of its batch: other requests wait for
#: the rows that it has locked.
MAX_TRANSACTION_SECONDS = 2.0

Handler = Callable[[Transaction, Any], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class _Parsed:
    delivery: Delivery
    event: CloudEvent
    data: Contract


class _Consumer(ABC):
    """Component: gives ``_take`` what arrives at ``queue``, until it is stopped."""

    def __init__(
        self, transport: Transport, queue: str, *, metrics: ServiceMetrics, prefetch: int
    ) -> None:
        self.queue = queue
        self._transport = transport
        self._metrics = metrics
        self._prefetch = prefetch
        self._task: asyncio.Task[None] | None = None

    @abstractmethod
    async def _take(self, deliveries: Sequence[Delivery]) -> None: ...

    async def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name=f"consumer {self.queue}")

    async def stop(self) -> None:
        task, self._task = self._task, None
        await cancel_and_wait(task)

    async def _run(self) -> None:
        while True:
            try:
                stream = self._transport.consume(self.queue, prefetch=self._prefetch)
                async with aclosing(stream):
                    async for deliveries in stream:
                        await self._take(deliveries)
                return
            except Exception:  # process boundary: a consumer goes on until it is stopped
                self._metrics.consumer_failures.labels(self.queue).inc()
                log.exception("consumer.failed", queue=self.queue)
                await asyncio.sleep(1.0)


class QueueConsumer(_Consumer):
    """Applies messages of ``queue``. ``handlers``: message type → what to do with its data, inside
    the open transaction.

    A batch is applied in one transaction, or in several if it takes longer than
    ``transaction_seconds``. If a transaction fails, the rest of the batch is applied one by one, so
    that a bad message harms no other. A handler that raises ``Unprocessable`` refuses the message
    for good; a lost database makes it wait; anything else is tried again up to the queue's delivery
    limit. ``on_applied`` is called after each commit (to wake a loop).
    """

    def __init__(
        self,
        *,
        transport: Transport,
        database: Database,
        metrics: ServiceMetrics,
        queue: str,
        handlers: Mapping[str, Handler],
        on_applied: Callable[[], None] | None = None,
        transaction_seconds: float = MAX_TRANSACTION_SECONDS,
    ) -> None:
        super().__init__(transport, queue, metrics=metrics, prefetch=MAX_BATCH)
        self._transaction_seconds = transaction_seconds
        self._database = database
        self._handlers = handlers
        self._on_applied = on_applied

    async def _take(self, deliveries: Sequence[Delivery]) -> None:
        """Apply the messages in the order of their subjects, whose rows they lock; those of one
        subject as they came."""
        batch = [
            parsed for delivery in deliveries if (parsed := await self._parse(delivery)) is not None
        ]
        batch.sort(key=lambda parsed: parsed.event.subject or "")
        while batch:
            try:
                count = await self._until_database(batch)
            except (
                Exception
            ) as error:  # process boundary: a message that fails is refused, the others go on
                if len(batch) == 1:
                    await self._refuse(batch[0], error)
                    return
                for parsed in batch:
                    await self._apply_one(parsed)
                return
            await self._done(batch[:count])
            del batch[:count]

    async def _apply_one(self, parsed: _Parsed) -> None:
        try:
            await self._until_database([parsed])
        except (
            Exception
        ) as error:  # process boundary: a message that fails is refused, the others go on
            await self._refuse(parsed, error)
            return
        await self._done([parsed])

    async def _until_database(self, batch: Sequence[_Parsed]) -> int:
        """Apply the first messages of the batch, at least one, and return how many. While the
        database is away, or others stand in the way, wait with the messages in hand."""
        failures = 0
        while True:
            try:
                async with self._database.transaction() as transaction:
                    return await self._apply(transaction, batch)
            except (*PASSING, NotAvailable) as error:
                log.warning("consumer.waiting", queue=self.queue, reason=str(error))
                failures += 1
                await asyncio.sleep(pause_after(failures, first=FIRST_PAUSE, longest=LONGEST_PAUSE))

    async def _apply(self, transaction: Transaction, batch: Sequence[_Parsed]) -> int:
        """Apply messages until the transaction's time is over, and return how many."""
        end = time.monotonic() + self._transaction_seconds
        new = await transaction.first_time(self.queue, [parsed.event.id for parsed in batch])
        for count, parsed in enumerate(batch):
            if count and time.monotonic() >= end:
                await transaction.leave_for_later(self.queue, new)
                return count
            if parsed.event.id not in new:
                self._metrics.messages.labels(self.queue, "repeated").inc()
                continue
            new.remove(parsed.event.id)
            with log_ids(message=parsed.event.id):
                await self._handlers[parsed.event.type](transaction, parsed.data)
        return len(batch)

    async def _done(self, batch: Sequence[_Parsed]) -> None:
        if self._on_applied is not None:
            self._on_applied()
        await asyncio.gather(*(parsed.delivery.ack() for parsed in batch))
        self._metrics.messages.labels(self.queue, "applied").inc(len(batch))

    async def _parse(self, delivery: Delivery) -> _Parsed | None:
        try:
            event = CloudEvent.model_validate_json(delivery.body)
        except pydantic.ValidationError as error:
            await self._reject(
                delivery, _fault_text("not a message as the services send them", error)
            )
            return None
        if event.type not in self._handlers:
            known = ", ".join(sorted(self._handlers))
            await self._reject(
                delivery,
                f"queue {self.queue} takes no messages of type {quoted(event.type)}, only {known}",
            )
            return None
        try:
            data = PAYLOADS[event.type].model_validate(event.data)
        except pydantic.ValidationError as error:
            await self._reject(
                delivery, _fault_text(f"its data are no {PAYLOADS[event.type].__name__}", error)
            )
            return None
        return _Parsed(delivery, event, data)

    async def _reject(self, delivery: Delivery, reason: str) -> None:
        self._metrics.messages.labels(self.queue, "rejected").inc()
        log.error("consumer.rejected", queue=self.queue, message=delivery.message_id, reason=reason)
        await delivery.reject(reason)

    async def _refuse(self, parsed: _Parsed, error: Exception) -> None:
        reason = f"{type(error).__name__}: {error}"
        with log_ids(message=parsed.event.id):
            if isinstance(error, Unprocessable):
                await self._reject(parsed.delivery, error.detail)
            else:
                self._metrics.messages.labels(self.queue, "retried").inc()
                log.error("consumer.retry", queue=self.queue, reason=reason, exc_info=error)
                await parsed.delivery.retry(reason)


def _fault_text(subject: str, error: pydantic.ValidationError) -> str:
    """``subject``, and what is wrong where: not the message itself, which is kept beside the
    reason."""
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    places = [
        f"{'.'.join(map(str, fault['loc'])) or 'the whole'}: {sentence_of(fault)}"
        for fault in faults[:MOST_FAULTS]
    ]
    more = len(faults) - len(places)
    return f"{subject}: {'; '.join(places)}" + (f"; and {more} more" if more else "")


class WakeConsumer(_Consumer):
    """Receives events that only wake a poller; nothing is stored, and a lost one costs a polling
    period."""

    def __init__(
        self, *, transport: Transport, metrics: ServiceMetrics, queue: str, wake: Callable[[], None]
    ) -> None:
        super().__init__(transport, queue, metrics=metrics, prefetch=256)
        self._wake = wake

    async def _take(self, deliveries: Sequence[Delivery]) -> None:
        self._wake()
        await asyncio.gather(*(delivery.ack() for delivery in deliveries))
