"""The outbox relay: the only place from which messages leave a service.

A committed message is sent at least once, in the order of commits as far as possible. Receivers
drop duplicates by id.

Sent messages are kept for a while. ``SEND_AGAIN`` sends them once more after a broker has lost its
messages, or after databases have been restored to an earlier moment.
"""

import time
from collections.abc import Sequence, Set
from datetime import timedelta
from typing import TYPE_CHECKING

import structlog

from sluice.contracts.common.problems import NotAvailable
from sluice.servicekit.database import Database
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.running.loop import Loop
from sluice.servicekit.transport.base import Message, Transport, TransportUnavailable

if TYPE_CHECKING:
    import asyncpg

log = structlog.get_logger(__name__)

#: The number of messages sent at once, and the time for which a relay claims them. A slow relay
#: only causes duplicates, which receivers drop.
BATCH = 200
CLAIM = timedelta(seconds=10)
#: Seconds until messages to a destination that refused are sent again.
REFUSED_PAUSE = 1.0

CLAIM_OUTBOX = """
-- Claim the oldest unclaimed messages, except those for $3. Several relays share the work.
UPDATE outbox SET claimed_until = now() + $2
WHERE id IN (
    SELECT id FROM outbox
    WHERE sent_at IS NULL AND (claimed_until IS NULL OR claimed_until < now())
        AND destination <> ALL($3::text[])
    ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED
)
RETURNING id, message_id, destination, body
"""

RELEASE_OUTBOX = """
UPDATE outbox SET claimed_until = NULL
WHERE id = ANY(ARRAY(SELECT id FROM outbox WHERE id = ANY($1::bigint[]) ORDER BY id FOR UPDATE))
"""
MARK_SENT = """
UPDATE outbox SET sent_at = now(), claimed_until = NULL
WHERE id = ANY(ARRAY(SELECT id FROM outbox WHERE id = ANY($1::bigint[]) ORDER BY id FOR UPDATE))
"""
DELETE_OUTBOX = """
DELETE FROM outbox
WHERE id = ANY(ARRAY(SELECT id FROM outbox WHERE id = ANY($1::bigint[]) ORDER BY id FOR UPDATE))
"""
COUNT_OUTBOX = """
SELECT count(*) FROM (SELECT 1 FROM outbox WHERE sent_at IS NULL LIMIT 100000) AS waiting
"""
PRUNE_OUTBOX = """
-- Delete a batch of messages that were sent too long ago for a queue to still hold them.
DELETE FROM outbox WHERE id = ANY(ARRAY(
    SELECT id FROM outbox WHERE sent_at < now() - $1::interval LIMIT $2 FOR UPDATE SKIP LOCKED))
"""
SEND_AGAIN = """
UPDATE outbox AS o SET sent_at = NULL
FROM (SELECT id FROM outbox WHERE sent_at IS NOT NULL ORDER BY id FOR UPDATE) AS sent
WHERE o.id = sent.id
"""
PRUNE_INBOX = """
-- Skip rows that another instance is pruning.
DELETE FROM inbox WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM inbox WHERE applied_at < now() - $1::interval FOR UPDATE SKIP LOCKED))
"""

#: The longest time after which a message can come again. No broker or outbox keeps it longer.
INBOX_MEMORY = timedelta(days=14)
#: The number of sent messages deleted by one statement, and the seconds between two rounds.
PRUNE_BATCH = 5000
PRUNE_PERIOD = 60.0


class OutboxRelay:
    """Component that sends committed messages.

    It sends at once after a commit of this process, and every ``period`` seconds. ``keep`` is the
    time for which sent messages are kept. It is zero for a transport that loses nothing unless the
    database loses it, too.
    """

    def __init__(
        self,
        database: Database,
        transport: Transport,
        metrics: ServiceMetrics,
        *,
        keep: timedelta,
        period: float = 1.0,
    ) -> None:
        self._database = database
        self._transport = transport
        self._metrics = metrics
        self._keep = keep
        self._settle_statement = MARK_SENT if keep else DELETE_OUTBOX
        self._paused_until: dict[str, float] = {}
        self._loop = Loop("outbox", self._relay, period=period, metrics=metrics)
        self._prune_loop = Loop(
            "messages.prune", self._prune_messages, period=PRUNE_PERIOD, metrics=metrics
        )

    async def start(self) -> None:
        """Start the loops."""
        self._database.on_send = self._loop.wake
        await self._loop.start()
        await self._prune_loop.start()

    async def stop(self) -> None:
        """Stop the loops."""
        self._database.on_send = None
        await self._prune_loop.stop()
        await self._loop.stop()

    async def _relay(self) -> bool:
        paused_destinations = [
            destination
            for destination, until in self._paused_until.items()
            if until > time.monotonic()
        ]
        async with self._database.connection() as connection:
            rows = await connection.fetch(CLAIM_OUTBOX, BATCH, CLAIM, paused_destinations)
            if not rows:
                self._metrics.outbox_waiting.set(
                    await connection.fetchval(COUNT_OUTBOX) if paused_destinations else 0
                )
                return False
        rows.sort(key=lambda row: int(row["id"]))
        try:
            await self._transport.send(
                [Message(row["message_id"], row["destination"], row["body"]) for row in rows]
            )
        except TransportUnavailable as error:
            await self._settle_messages(rows, error.stored_ids)
            if not error.refused_destinations:
                raise NotAvailable(error.what) from error
            self._pause_destinations(error)
            return True
        except BaseException:
            await self._settle_messages(rows, frozenset())
            raise
        await self._settle_messages(rows, {row["message_id"] for row in rows})
        for destination in {row["destination"] for row in rows}:
            self._paused_until.pop(destination, None)
        return True

    async def _settle_messages(self, rows: Sequence["asyncpg.Record"], stored: Set[str]) -> None:
        """Settle the stored messages and release the rest."""
        stored_ids = [row["id"] for row in rows if row["message_id"] in stored]
        unstored_ids = [row["id"] for row in rows if row["message_id"] not in stored]
        async with self._database.connection() as connection:
            await connection.execute(self._settle_statement, stored_ids)
            if unstored_ids:
                await connection.execute(RELEASE_OUTBOX, unstored_ids)
                self._metrics.outbox_waiting.set(await connection.fetchval(COUNT_OUTBOX))
        self._metrics.sent_messages.inc(len(stored_ids))

    def _pause_destinations(self, error: TransportUnavailable) -> None:
        if new := error.refused_destinations - self._paused_until.keys():
            log.warning("outbox.refused", destinations=sorted(new), reason=error.what)
        self._paused_until |= dict.fromkeys(
            error.refused_destinations, time.monotonic() + REFUSED_PAUSE
        )

    async def _prune_messages(self) -> bool:
        async with self._database.connection() as connection:
            await connection.execute(PRUNE_INBOX, INBOX_MEMORY)
            pruned = await connection.execute(PRUNE_OUTBOX, self._keep, PRUNE_BATCH)
        return pruned == f"DELETE {PRUNE_BATCH}"
