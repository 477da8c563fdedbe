"""Statements on the table ``sites``."""

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sluice.contracts.pilots.sites import NewSite, Site
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement

_COUNT = """
(SELECT count(*) FROM pilots WHERE site = sites.uid
    AND state IN ('{pilot.ACTIVE}', '{pilot.DRAINING}'))
"""

_COLUMNS = statement(f"""
uid, name, created_at, expires_at, most_pilots, labels, resources, revoked_at, {_COUNT} AS pilots
""")

_INSERT = f"""
INSERT INTO sites (name, digest, expires_at, most_pilots, labels, resources)
VALUES ($1, $2, now() + $3, $4, $5, $6)
ON CONFLICT (name) WHERE revoked_at IS NULL DO NOTHING RETURNING {_COLUMNS}
"""

_SELECT_ALL = f"""
SELECT {_COLUMNS} FROM sites ORDER BY revoked_at IS NOT NULL, name, created_at DESC
"""

_SELECT_BY_DIGEST = "SELECT uid, name, revoked_at FROM sites WHERE digest = $1"

_LOCK = """
-- Pilots of a site register one at a time, so that the limit of pilots holds.
SELECT 1 FROM sites WHERE uid = $1 FOR NO KEY UPDATE
"""

_SELECT_LOCKED = f"""
-- A separate statement, which sees what was committed while the lock waited.
SELECT {_COLUMNS}, expires_at <= now() AS is_over FROM sites WHERE uid = $1
"""

_REVOKE = f"""
UPDATE sites SET revoked_at = now() WHERE name = $1 AND revoked_at IS NULL RETURNING {_COLUMNS}
"""

_SELECT_REVOKED = "SELECT uid FROM sites WHERE revoked_at IS NOT NULL"

_SELECT_STARTS = statement("""
-- Pilots of this site with this key: pilot $1, and earlier starts. A pilot that was not seen for $4
-- no longer has jobs.
SELECT count(*) > 0 AS any, coalesce(bool_or(uid = $1), false) AS itself,
    coalesce(bool_or(uid = $1 AND is_there), false) AS is_there,
    coalesce(bool_or(uid <> $1 AND is_there AND seen_at > now() - $4::interval), false)
        AS another_is_there
FROM (SELECT uid, seen_at, state IN ('{pilot.ACTIVE}', '{pilot.DRAINING}') AS is_there FROM pilots
    WHERE site = $2 AND key = $3) AS starts
""")


@dataclass(frozen=True, slots=True)
class SiteByToken:
    """The site that a token belongs to."""

    uid: UUID
    name: str
    revoked_at: datetime | None


@dataclass(frozen=True, slots=True)
class LockedSite:
    """A site whose row is locked.

    Attributes:
        is_over: Its token has expired, so no new pilot may register.
    """

    site: Site
    is_over: bool


@dataclass(frozen=True, slots=True)
class PilotStarts:
    """The known starts of a pilot with one key.

    Attributes:
        any: The key is known.
        itself: The start in question is known.
        is_there: The start in question is present now.
        another_is_there: A start with another uid is present.
    """

    any: bool
    itself: bool
    is_there: bool
    another_is_there: bool


def compute_digest(secret: str) -> bytes:
    """Return the SHA-256 digest of a secret."""
    return hashlib.sha256(secret.encode(errors="replace")).digest()


async def insert_site(connection: Connection, new: NewSite, *, secret: str) -> Site | None:
    """Create a site; return None if there is one of that name."""
    row = await connection.fetchrow(
        _INSERT,
        new.name,
        compute_digest(secret),
        timedelta(days=new.days),
        new.most_pilots,
        new.labels,
        new.resources,
    )
    return None if row is None else _build_site(row)


async def list_all_sites(connection: Connection) -> list[Site]:
    """Return all sites by name, revoked ones last."""
    return [_build_site(row) for row in await connection.fetch(_SELECT_ALL)]


async def find_site_by_token(connection: Connection, secret: str) -> SiteByToken | None:
    """Return the site of the token, or None."""
    row = await connection.fetchrow(_SELECT_BY_DIGEST, compute_digest(secret))
    return None if row is None else SiteByToken(**row)


async def lock_site(connection: Connection, uid: UUID) -> LockedSite | None:
    """Lock the site and return it, or None if it does not exist.

    The transaction must be READ COMMITTED, so that it sees what the lock has waited for.
    """
    await connection.execute(_LOCK, uid)
    row = await connection.fetchrow(_SELECT_LOCKED, uid)
    return None if row is None else LockedSite(_build_site(row), row["is_over"])


async def find_pilot_starts(
    connection: Connection, key: str, *, site: UUID, pilot: UUID, lease: timedelta
) -> PilotStarts:
    """Return what is known of the starts with this key at a locked site."""
    [row] = await connection.fetch(_SELECT_STARTS, pilot, site, key, lease)
    return PilotStarts(**row)


async def mark_site_revoked(connection: Connection, name: str) -> Site | None:
    """Revoke the site; return None if there is none of that name."""
    row = await connection.fetchrow(_REVOKE, name)
    return None if row is None else _build_site(row)


async def list_revoked_sites(connection: Connection) -> frozenset[UUID]:
    """Return the revoked sites."""
    return frozenset(row["uid"] for row in await connection.fetch(_SELECT_REVOKED))


def _build_site(row: Any) -> Site:
    return Site(**{name: row[name] for name in Site.model_fields})
