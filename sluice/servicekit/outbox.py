"""The relay: the only place from which messages leave a service. What committed is sent at least
once, in order of commit as far as possible; receivers drop what comes twice by its id.

What was sent stays for a while: a broker that lost what it held, or databases that were restored to
a moment before it was applied, get it once more (``SEND_AGAIN``).
"""

import time
from collections.abc import Sequence, Set
from datetime import timedelta
from typing import TYPE_CHECKING

import structlog

from sluice.contracts.problems import NotAvailable
from sluice.servicekit.database import Database
from sluice.servicekit.loop import Loop
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.transport.base import Message, Transport, TransportUnavailable

if TYPE_CHECKING:
    import asyncpg

log = structlog.get_logger(__name__)

#: Messages sent in one go, and how long a relay that died may keep them from the others (one that
#: only is slow has them sent twice, which receivers do not notice).
BATCH = 200
CLAIM = timedelta(seconds=10)
#: Seconds until a destination that refused is tried again.
REFUSED_PAUSE = 1.0

CLAIM_OUTBOX = """
-- Takes the oldest messages nobody is sending, those for $3 excepted; several relays share the
-- work.
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
-- A bundle of those sent so long ago that no queue can still hold them.
DELETE FROM outbox WHERE id = ANY(ARRAY(
    SELECT id FROM outbox WHERE sent_at < now() - $1::interval LIMIT $2 FOR UPDATE SKIP LOCKED))
"""
SEND_AGAIN = """
UPDATE outbox AS o SET sent_at = NULL
FROM (SELECT id FROM outbox WHERE sent_at IS NOT NULL ORDER BY id FOR UPDATE) AS sent
WHERE o.id = sent.id
"""
PRUNE_INBOX = """
-- Rows that another instance prunes at this moment are left to it.
DELETE FROM inbox WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM inbox WHERE applied_at < now() - $1::interval FOR UPDATE SKIP LOCKED))
"""

#: A message cannot come again after so long: brokers and outboxes hold nothing that old.
INBOX_MEMORY = timedelta(days=14)
#: Sent messages forgotten in one statement, and seconds between two rounds.
PRUNE_BATCH = 5000
PRUNE_PERIOD = 60.0


class OutboxRelay:
    """Sends committed messages: at once when the database says so, and every ``period`` seconds in
    any case. ``keep``: how long those sent stay; zero where the transport cannot lose what the
    database does not lose too."""

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
        self._settle = MARK_SENT if keep else DELETE_OUTBOX
        self._refused: dict[str, float] = {}
        self._loop = Loop("outbox", self._relay, period=period, metrics=metrics)
        self._prune = Loop("messages.prune", self._forget, period=PRUNE_PERIOD, metrics=metrics)

    async def start(self) -> None:
        self._database.on_send = self._loop.wake
        await self._loop.start()
        await self._prune.start()

    async def stop(self) -> None:
        self._database.on_send = None
        await self._prune.stop()
        await self._loop.stop()

    async def _relay(self) -> bool:
        resting = [
            destination for destination, until in self._refused.items() if until > time.monotonic()
        ]
        async with self._database.connection() as connection:
            rows = await connection.fetch(CLAIM_OUTBOX, BATCH, CLAIM, resting)
            if not rows:
                self._metrics.outbox_waiting.set(
                    await connection.fetchval(COUNT_OUTBOX) if resting else 0
                )
                return False
        rows.sort(key=lambda row: int(row["id"]))
        try:
            await self._transport.send(
                [Message(row["message_id"], row["destination"], row["body"]) for row in rows]
            )
        except TransportUnavailable as error:
            await self._note(rows, error.stored)
            if not error.refused:
                raise NotAvailable(error.what) from error
            self._rest(error)
            return True
        except BaseException:
            await self._note(rows, frozenset())
            raise
        await self._note(rows, {row["message_id"] for row in rows})
        for destination in {row["destination"] for row in rows}:
            self._refused.pop(destination, None)
        return True

    async def _note(self, rows: Sequence["asyncpg.Record"], stored: Set[str]) -> None:
        """Settles what is stored and releases the rest."""
        done = [row["id"] for row in rows if row["message_id"] in stored]
        left = [row["id"] for row in rows if row["message_id"] not in stored]
        async with self._database.connection() as connection:
            await connection.execute(self._settle, done)
            if left:
                await connection.execute(RELEASE_OUTBOX, left)
                self._metrics.outbox_waiting.set(await connection.fetchval(COUNT_OUTBOX))
        self._metrics.sent.inc(len(done))

    def _rest(self, error: TransportUnavailable) -> None:
        if new := error.refused - self._refused.keys():
            log.warning("outbox.refused", destinations=sorted(new), reason=error.what)
        self._refused |= dict.fromkeys(error.refused, time.monotonic() + REFUSED_PAUSE)

    async def _forget(self) -> bool:
        async with self._database.connection() as connection:
            await connection.execute(PRUNE_INBOX, INBOX_MEMORY)
            pruned = await connection.execute(PRUNE_OUTBOX, self._keep, PRUNE_BATCH)
        return pruned == f"DELETE {PRUNE_BATCH}"
