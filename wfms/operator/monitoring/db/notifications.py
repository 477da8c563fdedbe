"""Statements on what people have been notified of."""

from collections.abc import Sequence

from sluice.servicekit.database import Connection

_CLAIM = """
-- Claim new keys, and keys that another instance claimed long ago and did not send.
INSERT INTO notifications (key) SELECT DISTINCT unnest($1::text[])
ON CONFLICT (key) DO UPDATE SET claimed_at = now()
WHERE notifications.sent_at IS NULL AND notifications.claimed_at < now() - interval '5 minutes'
RETURNING key
"""

_MARK_SENT = "UPDATE notifications SET sent_at = now() WHERE key = ANY($1)"

_RELEASE = """
-- Make the keys free to claim again.
UPDATE notifications SET claimed_at = '-infinity' WHERE key = ANY($1) AND sent_at IS NULL
"""

_FORGET = """
-- A problem that was over for a day is news when it comes again.
DELETE FROM notifications
WHERE key <> ALL($1::text[]) AND coalesce(sent_at, claimed_at) < now() - interval '1 day'
"""


async def claim_notifications(connection: Connection, keys: Sequence[str]) -> set[str]:
    """Claim the keys that nobody has sent or is sending, and return them."""
    return {row["key"] for row in await connection.fetch(_CLAIM, list(keys))}


async def mark_sent(connection: Connection, keys: Sequence[str]) -> None:
    """Mark the keys as sent."""
    await connection.execute(_MARK_SENT, list(keys))


async def release_notifications(connection: Connection, keys: Sequence[str]) -> None:
    """Give up the claims on the keys."""
    await connection.execute(_RELEASE, list(keys))


async def forget_notifications(connection: Connection, current: Sequence[str]) -> None:
    """Delete keys that are not among ``current`` and were sent more than a day ago."""
    await connection.execute(_FORGET, list(current))
