"""Statements on browsers of people who answer."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from sluice.contracts.common.states import DeviceState
from sluice.servicekit.database import Connection
from wfms.ask.db.links import HumanStepPlace, StoredLink

INSERT_DEVICE = """
INSERT INTO devices (uid, template, step, owner_group, digest, link_uid, person, browser, origin)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
"""

DEVICE_BY_DIGEST = """
-- `has_valid_link` tells whether its link is still valid.
SELECT d.uid, d.template, d.step, d.owner_group, d.shown, d.given, d.state,
    l.ended_at IS NULL AND l.until > now() AS has_valid_link
FROM devices AS d JOIN links AS l ON l.uid = d.link_uid WHERE d.digest = $1
"""


MOVE_TO_LINK = """
-- End the earlier link if it was only for this person.
WITH known AS (
    SELECT uid, link_uid FROM devices WHERE digest = $1 AND template = $3 AND step = $4
        AND owner_group = $5 AND person IS NOT DISTINCT FROM $6 FOR UPDATE
), moved AS (
    UPDATE devices SET link_uid = $2 FROM known WHERE devices.uid = known.uid
), earlier AS (
    UPDATE links SET ended_at = now() FROM known
    WHERE links.uid = known.link_uid AND links.uid <> $2 AND person IS NOT NULL AND ended_at IS NULL
)
SELECT EXISTS (SELECT FROM known)
"""

#: Takes PostgreSQL's advisory locks of a browser before all other locks of a request, in the order
#: of their keys. Browsers of one account have one lock in common, and so have browsers of one
#: origin. None of them is therefore assigned an item that another one is about to get.
BROWSER_ALONE = """
SELECT pg_advisory_xact_lock(1634956139, key) FROM (
    SELECT DISTINCT hashtext(voter) AS key
    FROM devices, unnest(ARRAY[person, coalesce(encode(origin, 'hex'), uid::text)]) AS voter
    WHERE uid = $1 AND voter IS NOT NULL ORDER BY key
) AS keys
"""
DEVICE_NOW = "SELECT shown, given, state FROM devices WHERE uid = $1"

COUNT = """
UPDATE devices SET shown = shown + $2, given = given + $3, last_at = now() WHERE uid = $1
"""


SET_DEVICE_STATE = """
UPDATE devices SET state = $2, reason = $3, set_by = $4 WHERE uid = $1 AND state <> $2
RETURNING 1
"""

LOCK_ITEMS_OF = """
SELECT uid FROM items WHERE uid IN (SELECT item_uid FROM shown WHERE device_uid = $1)
ORDER BY uid FOR UPDATE
"""

COUNTS = "UPDATE shown SET counts = $2 WHERE device_uid = $1 AND counts <> $2"

DEVICES = """
SELECT d.uid, d.template, d.step, d.person, d.browser, d.first_at, d.last_at, d.given, d.evidence,
    d.link_uid, d.score, d.state, d.reason, d.set_by, coalesce(t.seconds, 0) AS seconds,
    (SELECT count(*) FROM devices AS o WHERE o.uid <> d.uid AND (o.template, o.step, o.owner_group)
        = (d.template, d.step, d.owner_group) AND (o.person = d.person
            OR o.origin = d.origin AND (o.person IS NULL OR d.person IS NULL))) AS alike
FROM devices AS d LEFT JOIN LATERAL (
    SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) AS seconds FROM shown
    WHERE device_uid = d.uid AND answer IS NOT NULL
) AS t ON true
WHERE d.template = $1 AND d.step = $2 AND d.owner_group = $3
    AND ($4::uuid IS NULL OR d.uid = $4)
ORDER BY d.score DESC, d.uid LIMIT $5
"""


@dataclass(frozen=True, slots=True)
class KnownDevice:
    """A browser that was admitted. ``has_valid_link``: the link that it came by is still valid."""

    uid: UUID
    template: str
    step: str
    owner_group: str
    shown: int
    given: int
    state: DeviceState
    has_valid_link: bool


async def insert_device(
    connection: Connection,
    uid: UUID,
    digest: bytes,
    link: StoredLink,
    *,
    browser: str,
    origin: bytes | None = None,
) -> None:
    """Store a browser. ``origin``: digest of its address and traits."""
    await connection.execute(
        INSERT_DEVICE, uid, *link.place, digest, link.uid, link.person, browser, origin
    )


async def find_device(connection: Connection, digest: bytes) -> KnownDevice | None:
    """Return the browser with this digest, or None."""
    row = await connection.fetchrow(DEVICE_BY_DIGEST, digest)
    if row is None:
        return None
    return KnownDevice(**{**row, "state": DeviceState(row["state"])})


async def lock_browser(connection: Connection, device: KnownDevice) -> KnownDevice:
    """Return the current state of a browser, and let other requests of its person wait.

    They wait until the end of the transaction.
    """
    await connection.execute(BROWSER_ALONE, device.uid)
    [row] = await connection.fetch(DEVICE_NOW, device.uid)
    state = DeviceState(row["state"])
    return replace(device, shown=row["shown"], given=row["given"], state=state)


async def move_to_link(connection: Connection, digest: bytes, link: StoredLink) -> bool:
    """Move a known browser to this link.

    It returns False if the browser is unknown, came to another step or came as another person.
    """
    moved = await connection.fetchval(MOVE_TO_LINK, digest, link.uid, *link.place, link.person)
    return bool(moved)


async def add_counts(
    connection: Connection, device: UUID, *, shown_items: int, given_answers: int
) -> None:
    """Add to the counts of shown items and given answers of a browser."""
    await connection.execute(COUNT, device, shown_items, given_answers)


async def set_device_state(
    connection: Connection,
    device: UUID,
    state: DeviceState,
    *,
    reason: str,
    set_by: str | None,
) -> list[UUID] | None:
    """Set the state of a browser, and whether its answers count.

    It locks the items that the browser was shown and returns them; settle them afterwards. It
    returns None if the state was the same before.
    """
    items = [row["uid"] for row in await connection.fetch(LOCK_ITEMS_OF, device)]
    if await connection.fetchval(SET_DEVICE_STATE, device, state, reason, set_by) is None:
        return None
    await connection.execute(COUNTS, device, state is DeviceState.COUNTED)
    return items


async def list_devices(
    connection: Connection, place: HumanStepPlace, *, device: UUID | None = None, limit: int = 1
) -> list[Mapping[str, Any]]:
    """Return the browsers of a step, the highest score first."""
    rows = await connection.fetch(DEVICES, *place, device, limit)
    return [dict(row) for row in rows]
