"""The table ``device_logins``: commands that wait for approval in a browser."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sluice.contracts.access.access import Role
from sluice.servicekit.database import Connection
from wfms.operator.identity.db.person_tokens import digest

_COLUMNS = "user_code, label, remote, created_at, person, role"

_FORGET_EXPIRED = """
-- Skip rows that another instance is deleting.
DELETE FROM device_logins WHERE digest = ANY(ARRAY(
    SELECT digest FROM device_logins WHERE expires_at < now() FOR UPDATE SKIP LOCKED))
"""

_INSERT = """
INSERT INTO device_logins (digest, user_code, label, remote, expires_at)
VALUES ($1, $2, $3, $4, now() + $5) ON CONFLICT DO NOTHING RETURNING true
"""

_SELECT_UNDECIDED = f"""
SELECT {_COLUMNS} FROM device_logins
WHERE user_code = $1 AND person IS NULL AND expires_at > now()
"""

_DECIDE_LOGIN = f"""
UPDATE device_logins SET person = $2, role = $3
WHERE user_code = $1 AND person IS NULL AND expires_at > now() RETURNING {_COLUMNS}
"""

_LOCK = f"""
SELECT {_COLUMNS} FROM device_logins WHERE digest = $1 AND expires_at > now() FOR UPDATE
"""

_DELETE = "DELETE FROM device_logins WHERE digest = $1"


@dataclass(frozen=True, slots=True)
class DeviceLoginRow:
    """A device login.

    ``person`` has decided about it; None if nobody has yet. ``role`` is the highest role of the
    token; None beside a person means that the person refused the login.
    """

    user_code: str
    label: str
    remote: str
    created_at: datetime
    person: str | None
    role: Role | None


async def forget_ended_logins(connection: Connection) -> None:
    """Delete logins that have expired."""
    await connection.execute(_FORGET_EXPIRED)


async def insert_login(
    connection: Connection,
    device_code: str,
    user_code: str,
    *,
    label: str,
    remote: str,
    life: timedelta,
) -> bool:
    """Store a login; return False if another login has one of its codes."""
    added = await connection.fetchval(_INSERT, digest(device_code), user_code, label, remote, life)
    return added is not None


async def find_undecided_login(connection: Connection, user_code: str) -> DeviceLoginRow | None:
    """Return the login that waits with this code; None if there is none."""
    return _to_login(await connection.fetchrow(_SELECT_UNDECIDED, user_code))


async def decide_login(
    connection: Connection, user_code: str, person: str, role: Role | None
) -> DeviceLoginRow | None:
    """Record the decision of a person; ``role`` None refuses the login.

    Returns:
        The login; None if none waits with this code.
    """
    return _to_login(await connection.fetchrow(_DECIDE_LOGIN, user_code, person, role))


async def lock_login(connection: Connection, device_code: str) -> DeviceLoginRow | None:
    """Lock a login and return it; None if there is none or it has expired."""
    return _to_login(await connection.fetchrow(_LOCK, digest(device_code)))


async def delete_login(connection: Connection, device_code: str) -> None:
    """Delete a login."""
    await connection.execute(_DELETE, digest(device_code))


def _to_login(row: Any) -> DeviceLoginRow | None:
    if row is None:
        return None
    return DeviceLoginRow(**{**row, "role": None if row["role"] is None else Role(row["role"])})
