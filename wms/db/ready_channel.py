"""Tells all instances that jobs became ready."""

from sluice.servicekit.database import Connection

#: The PostgreSQL channel on which instances hear of it.
READY_CHANNEL = "wms_ready"

_NOTIFY_READY = f"SELECT pg_notify('{READY_CHANNEL}', '')"


async def notify_ready(connection: Connection) -> None:
    """Heard once the transaction has committed."""
    await connection.execute(_NOTIFY_READY)
