"""Consumers of queues.

Each message is applied once and acknowledged after the commit (invariant 2).
"""

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import pydantic
import structlog

from sluice.contracts.common.base import Contract
from sluice.contracts.common.problems import NotAvailable, Unprocessable
from sluice.contracts.common.wording import validation_sentence
from sluice.contracts.messaging.messages import PAYLOADS, CloudEvent
from sluice.scheduling.backoff import pause_after
from sluice.servicekit.database import TRANSIENT_ERRORS, Database, Transaction
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.running.lifecycle import cancel_and_wait
from sluice.servicekit.running.logging import log_ids
from sluice.servicekit.transport.base import Delivery, Transport
from sluice.text.os_errors import reason_of
from sluice.text.visible_text import quoted

log = structlog.get_logger(__name__)

#: Seconds between two attempts while the database is unavailable: the first pause, which doubles up
#: to the longest.
FIRST_PAUSE, MAX_PAUSE = 0.1, 5.0
#: The maximum number of faults that the reason for a rejection lists.
MAX_FAULTS = 5
#: The maximum number of messages in a batch.
MAX_BATCH = 64
#: Seconds after which a transaction takes no further message of its batch, because it holds locks
#: on rows that other requests wait for.
MAX_TRANSACTION_SECONDS = 2.0

Handler = Callable[[Transaction, Any], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class _Parsed:
    delivery: Delivery
    event: CloudEvent
    data: Contract


class _Consumer(ABC):
    """Component that passes the messages of ``queue`` to ``_take`` until it is stopped."""

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
        """Start to receive messages."""
        self._task = asyncio.create_task(self._run(), name=f"consumer {self.queue}")

    async def stop(self) -> None:
        """Stop to receive messages."""
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
            except Exception:  # process boundary: a consumer runs until it is stopped
                self._metrics.consumer_failures.labels(self.queue).inc()
                log.exception("consumer.failed", queue=self.queue)
                await asyncio.sleep(1.0)


class QueueConsumer(_Consumer):
    """Consumer that applies the messages of a queue to the database.

    ``handlers`` maps a message type to a function that handles the data inside the open
    transaction.

    A batch is applied in one transaction, or in several if it takes longer than
    ``transaction_seconds``. If a transaction fails, the rest of the batch is applied one by one, so
    that a bad message harms no other. A handler that raises ``Unprocessable`` rejects the message.
    While the database is unavailable the message waits. After any other error the message is
    retried up to the queue's delivery limit. ``on_applied`` is called after each commit, to wake a
    loop.
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
        """Apply the messages sorted by subject, because each locks the rows of its subject.

        Messages of one subject keep their order.
        """
        batch = [
            parsed for delivery in deliveries if (parsed := await self._parse(delivery)) is not None
        ]
        batch.sort(key=lambda parsed: parsed.event.subject or "")
        while batch:
            try:
                count = await self._until_database(batch)
            except Exception as error:
                # Process boundary: a failed message is refused, the others continue.
                if len(batch) == 1:
                    await self._refuse(batch[0], error)
                    return
                for parsed in batch:
                    await self._apply_one(parsed)
                return
            await self._done(batch[:count])
            del batch[:count]

    async def _apply_one(self, parsed_message: _Parsed) -> None:
        try:
            await self._until_database([parsed_message])
        except Exception as error:
            # Process boundary: a failed message is refused, the others continue.
            await self._refuse(parsed_message, error)
            return
        await self._done([parsed_message])

    async def _until_database(self, batch: Sequence[_Parsed]) -> int:
        """Apply the first messages of the batch, at least one, and return their number.

        The messages wait while the database is unavailable or other transactions are in the way.
        """
        failures = 0
        while True:
            try:
                async with self._database.transaction() as transaction:
                    return await self._apply(transaction, batch)
            except (*TRANSIENT_ERRORS, NotAvailable) as error:
                log.warning("consumer.waiting", queue=self.queue, reason=reason_of(error))
                failures += 1
                await asyncio.sleep(pause_after(failures, first=FIRST_PAUSE, max_pause=MAX_PAUSE))

    async def _apply(self, transaction: Transaction, batch: Sequence[_Parsed]) -> int:
        """Apply messages until the transaction's time is over, and return their number."""
        end = time.monotonic() + self._transaction_seconds
        new = await transaction.mark_applied(self.queue, [parsed.event.id for parsed in batch])
        for count, parsed in enumerate(batch):
            if count and time.monotonic() >= end:
                await transaction.unmark_applied(self.queue, new)
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
            known_types = ", ".join(sorted(self._handlers))
            await self._reject(
                delivery,
                f"queue {self.queue} takes no messages of type {quoted(event.type)},"
                f" only {known_types}",
            )
            return None
        try:
            data = PAYLOADS[event.type].model_validate(event.data)
        except pydantic.ValidationError as error:
            await self._reject(
                delivery, _fault_text(f"its data are not a {PAYLOADS[event.type].__name__}", error)
            )
            return None
        return _Parsed(delivery, event, data)

    async def _reject(self, delivery: Delivery, reason: str) -> None:
        self._metrics.messages.labels(self.queue, "rejected").inc()
        log.error("consumer.rejected", queue=self.queue, message=delivery.message_id, reason=reason)
        await delivery.reject(reason)

    async def _refuse(self, parsed_message: _Parsed, error: Exception) -> None:
        reason = reason_of(error)
        with log_ids(message=parsed_message.event.id):
            if isinstance(error, Unprocessable):
                await self._reject(parsed_message.delivery, error.detail)
            else:
                self._metrics.messages.labels(self.queue, "retried").inc()
                log.error("consumer.retry", queue=self.queue, reason=reason, exc_info=error)
                await parsed_message.delivery.retry(reason)


def _fault_text(subject: str, error: pydantic.ValidationError) -> str:
    """Return ``subject`` with the faults and their places.

    The message itself is not repeated, because it is stored beside the reason.
    """
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    places = [
        f"{'.'.join(map(str, fault['loc'])) or 'the whole'}: {validation_sentence(fault)}"
        for fault in faults[:MAX_FAULTS]
    ]
    more = len(faults) - len(places)
    return f"{subject}: {'; '.join(places)}" + (f"; and {more} more" if more else "")


class WakeConsumer(_Consumer):
    """Consumer of events that only wake a poller.

    Nothing is stored. A lost event costs one polling period.
    """

    def __init__(
        self, *, transport: Transport, metrics: ServiceMetrics, queue: str, wake: Callable[[], None]
    ) -> None:
        super().__init__(transport, queue, metrics=metrics, prefetch=256)
        self._wake = wake

    async def _take(self, deliveries: Sequence[Delivery]) -> None:
        self._wake()
        await asyncio.gather(*(delivery.ack() for delivery in deliveries))
