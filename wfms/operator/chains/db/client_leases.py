"""The table ``client_leases`` and its statements: what waiting clients own."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sluice.contracts.chains.client_leases import RenewClientLease
from sluice.servicekit.database import Connection

_COLUMNS = "uid, chains, datasets, run_templates, discard"

_RENEW_LEASE = """
-- Return no row if the lease belongs to another person or has expired.
INSERT INTO client_leases (uid, person, chains, datasets, run_templates, discard, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, now() + $7)
ON CONFLICT (uid) DO UPDATE SET chains = $3, datasets = $4, run_templates = $5, discard = $6,
    expires_at = now() + $7
WHERE client_leases.person = $2 AND client_leases.ended_at IS NULL
RETURNING expires_at
"""

_SELECT_LEASE = f"SELECT {_COLUMNS} FROM client_leases WHERE uid = $1 AND person = $2"

_CLAIM_EXPIRED = f"""
-- Claim for a minute. If this instance dies, another one claims them again.
UPDATE client_leases
SET ended_at = coalesce(ended_at, now()), expires_at = now() + interval '1 minute'
WHERE uid = ANY(ARRAY(
    SELECT uid FROM client_leases WHERE expires_at < now()
    ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED))
RETURNING {_COLUMNS}
"""

_RELEASE_LEASE = """
DELETE FROM client_leases WHERE uid = $1 AND person = $2 AND ended_at IS NULL RETURNING uid
"""

_DELETE_LEASE = "DELETE FROM client_leases WHERE uid = $1"


@dataclass(frozen=True, slots=True)
class ClientLeaseRow:
    """A lease of a client; ``discard`` says to delete the data of finished chains, too."""

    uid: UUID
    chains: list[UUID]
    datasets: list[UUID]
    run_templates: list[UUID]
    discard: bool


async def renew_lease(
    connection: Connection,
    uid: UUID,
    person: str,
    owned_objects: RenewClientLease,
    *,
    life: timedelta,
) -> datetime | None:
    """Return when the lease expires now; None if another person has it or it has ended."""
    expires: datetime | None = await connection.fetchval(
        _RENEW_LEASE,
        uid,
        person,
        owned_objects.chains,
        owned_objects.datasets,
        owned_objects.run_templates,
        owned_objects.discard,
        life,
    )
    return expires


async def find_lease(connection: Connection, uid: UUID, person: str) -> ClientLeaseRow | None:
    """Return the lease of a person; None if there is none."""
    row = await connection.fetchrow(_SELECT_LEASE, uid, person)
    return None if row is None else ClientLeaseRow(**row)


async def claim_expired(connection: Connection, *, limit: int) -> list[ClientLeaseRow]:
    """Claim expired leases for a minute, and mark them as ended."""
    return [ClientLeaseRow(**row) for row in await connection.fetch(_CLAIM_EXPIRED, limit)]


async def release_lease(connection: Connection, uid: UUID, person: str) -> bool:
    """Delete a lease; return False if there is none or it has ended."""
    return await connection.fetchval(_RELEASE_LEASE, uid, person) is not None


async def delete_lease(connection: Connection, uid: UUID) -> None:
    """Delete the row of a lease."""
    await connection.execute(_DELETE_LEASE, uid)
