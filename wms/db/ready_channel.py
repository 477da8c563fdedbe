"""Notification of all instances that jobs became ready."""

from sluice.servicekit.database import Connection

#: The PostgreSQL channel of the notification.
READY_CHANNEL = "wms_ready"

_NOTIFY_READY = f"SELECT pg_notify('{READY_CHANNEL}', '')"


async def notify_ready(connection: Connection) -> None:
    """Notify all instances when the transaction commits."""
    await connection.execute(_NOTIFY_READY)
