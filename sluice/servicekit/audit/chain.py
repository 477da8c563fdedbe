"""The chain of digests over the audit log.

Digests are computed after the rows have committed, so that requests do not wait for each other.
"""

import hashlib
import json
from datetime import UTC, timedelta
from typing import Any

import structlog

from sluice.contracts.access.audit import AuditVerdict
from sluice.servicekit.database import Connection, Database
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.running.loop import Loop

log = structlog.get_logger(__name__)

#: Seconds between two searches for rows without a digest, and the rows of one transaction.
PERIOD, BATCH = 5.0, 500
#: A search looks at this many of the latest ids, because rows can commit out of order. Every
#: ``_ALL``-th search looks at all rows.
_LATE, _ALL = 10_000, 720
#: The digest before the first row.
_BEGIN = bytes(32)
#: The advisory lock of the processes that extend the chain.
_LOCK = 0x534C_4155

_COLUMNS = "a.id, a.at, a.request, a.kind, a.who, a.role, a.action, a.remote, a.outcome, a.facts"

LOCK = "SELECT pg_advisory_xact_lock($1)"

LAST = "SELECT number, digest FROM audit_chain ORDER BY number DESC LIMIT 1"

UNCHAINED = f"""
SELECT {_COLUMNS} FROM audit AS a
WHERE a.id > $1 AND NOT EXISTS (SELECT FROM audit_chain AS c WHERE c.id = a.id)
ORDER BY a.id LIMIT $2
"""

EARLIEST = "SELECT coalesce(max(id), 0) - $1 FROM audit_chain"

ADD = """
INSERT INTO audit_chain (number, id, digest)
SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bytea[])
"""

CHAINED = f"""
SELECT c.number, c.digest, c.id AS chained, {_COLUMNS}
FROM audit_chain AS c LEFT JOIN audit AS a ON a.id = c.id
WHERE c.number > $1 ORDER BY c.number LIMIT $2
"""

COUNTS = """
SELECT (SELECT count(*) FROM audit) AS rows,
    (SELECT count(*) FROM audit AS a
        WHERE NOT EXISTS (SELECT FROM audit_chain AS c WHERE c.id = a.id)) AS unchained,
    coalesce((SELECT max(number) FROM audit_forgotten), 0) AS forgotten
"""

MAY_FORGET = "SET LOCAL sluice.audit = 'forget'"

OLD = """
-- The last old event that has no younger event before it.
SELECT max(c.number) FROM audit_chain AS c JOIN audit AS a ON a.id = c.id
WHERE a.at < now() - $1::interval AND c.number < coalesce((
    SELECT min(c.number) FROM audit_chain AS c JOIN audit AS a ON a.id = c.id
    WHERE a.at >= now() - $1::interval), 9223372036854775807)
"""

FORGET = """
DELETE FROM audit USING audit_chain AS c WHERE c.id = audit.id AND c.number <= $1
"""

NOTE_FORGOTTEN = "INSERT INTO audit_forgotten (number) VALUES ($1)"


def compute_digest(before: bytes, row: Any) -> bytes:
    """Return the SHA-256 digest of the previous digest and the row.

    The row is hashed as JSON with its columns in order and times in UTC.
    """
    columns = [
        row["id"],
        row["at"].astimezone(UTC).isoformat(timespec="microseconds"),
        str(row["request"]),
        *(row[name] for name in ("kind", "who", "role", "action", "remote", "outcome", "facts")),
    ]
    content = json.dumps(columns, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(before + content.encode()).digest()


class AuditChain:
    """Component that extends the chain and deletes rows that are older than ``keep``."""

    def __init__(self, database: Database, metrics: ServiceMetrics, *, keep: timedelta) -> None:
        self._database = database
        self._keep = keep
        self._rounds = 0
        self._loop = Loop("audit", self._tick, period=PERIOD, metrics=metrics)

    async def start(self) -> None:
        """Start the loop."""
        await self._loop.start()

    async def stop(self) -> None:
        """Stop the loop."""
        await self._loop.stop()

    async def _tick(self) -> bool:
        """Extend the chain and return whether there may be more rows."""
        all_rows = self._rounds % _ALL == 0
        self._rounds += 1
        if all_rows:
            await forget(self._database, self._keep)
        return await chain_more(self._database, all_rows=all_rows) == BATCH


async def chain_more(database: Database, *, all_rows: bool = True) -> int:
    """Add up to ``BATCH`` rows to the chain and return their number.

    Args:
        database: The database of the service.
        all_rows: Whether to include rows that committed much later than rows with higher ids.
    """
    async with database.transaction() as transaction:
        connection = transaction.connection
        await connection.execute(LOCK, _LOCK)
        earliest_id = 0 if all_rows else await connection.fetchval(EARLIEST, _LATE)
        rows = await connection.fetch(UNCHAINED, earliest_id, BATCH)
        if not rows:
            return 0
        last = await connection.fetchrow(LAST)
        number, digest = (0, _BEGIN) if last is None else (last["number"], last["digest"])
        digests = []
        for row in rows:
            digest = compute_digest(digest, row)
            digests.append(digest)
        numbers = list(range(number + 1, number + 1 + len(rows)))
        await connection.execute(ADD, numbers, [row["id"] for row in rows], digests)
    # The log is outside the database: who rewrites the database cannot rewrite the log.
    log.info("audit.chained", rows=len(rows), number=numbers[-1], head=digest.hex())
    return len(rows)


async def forget(database: Database, keep: timedelta) -> None:
    """Delete rows that are older than ``keep``. Their digests stay."""
    async with database.transaction() as transaction:
        connection = transaction.connection
        await connection.execute(LOCK, _LOCK)
        number = await connection.fetchval(OLD, keep)
        if number is None:
            return
        await connection.execute(MAY_FORGET)
        await connection.execute(FORGET, number)
        await connection.execute(NOTE_FORGOTTEN, number)
    log.info("audit.forgotten", number=number)


async def verdict(database: Database, service: str) -> AuditVerdict:
    """Check all rows of the audit log against the chain, in one snapshot."""
    async with database.transaction() as transaction:
        connection = transaction.connection
        await connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        counts = await connection.fetchrow(COUNTS)
        assert counts is not None  # noqa: S101 - counts without groups give one row
        head, fault = await _check_chain(connection, counts["forgotten"])
    return AuditVerdict(
        service=service,
        rows=counts["rows"],
        unchained=counts["unchained"],
        forgotten=counts["forgotten"],
        head=head.hex(),
        wrong=fault,
    )


async def _check_chain(connection: Connection, forgotten: int) -> tuple[bytes, str]:
    """Return the last digest, and the first fault or an empty string."""
    digest, number = _BEGIN, 0
    while rows := await connection.fetch(CHAINED, number, BATCH):
        for row in rows:
            number += 1
            if row["number"] != number:
                return digest, f"number {number} of the chain is missing"
            if row["id"] is None and number > forgotten:
                return digest, f"row {row['chained']} is missing"
            if row["id"] is not None and compute_digest(digest, row) != row["digest"]:
                return digest, f"row {row['chained']} is not what was chained"
            digest = row["digest"]
    return digest, ""
