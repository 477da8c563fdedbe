"""Statements on the browsers in which annotators answer."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from sluice.contracts.common.states import BrowserState
from sluice.servicekit.database import Connection
from wfms.ask.db.links import HumanStepPlace, StoredLink

_INSERT_BROWSER = """
INSERT INTO browsers
    (uid, template, step, owner_group, digest, link_uid, person, user_agent, origin)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
"""

_SELECT_BROWSER_BY_DIGEST = """
-- `has_valid_link` tells whether its link is still valid.
SELECT b.uid, b.template, b.step, b.owner_group, b.shown_item_count, b.answer_count, b.state,
    l.ended_at IS NULL AND l.expires_at > now() AS has_valid_link
FROM browsers AS b JOIN links AS l ON l.uid = b.link_uid WHERE b.digest = $1
"""

_MOVE_TO_LINK = """
-- End the earlier link if it was only for this person.
WITH known AS (
    SELECT uid, link_uid FROM browsers WHERE digest = $1 AND template = $3 AND step = $4
        AND owner_group = $5 AND person IS NOT DISTINCT FROM $6 FOR UPDATE
), moved AS (
    UPDATE browsers SET link_uid = $2 FROM known WHERE browsers.uid = known.uid
), earlier AS (
    UPDATE links SET ended_at = now() FROM known
    WHERE links.uid = known.link_uid AND links.uid <> $2 AND person IS NOT NULL AND ended_at IS NULL
)
SELECT EXISTS (SELECT FROM known)
"""

_LOCK_BROWSERS_OF_ANNOTATOR = """
-- Take the advisory locks of a browser before all other locks of a request, in the order of their
-- keys. Browsers of one account have one lock in common, and so have browsers of one origin. None
-- of them is therefore assigned an item that another one is about to get.
SELECT pg_advisory_xact_lock(1634956139, key) FROM (
    SELECT DISTINCT hashtext(annotator) AS key
    FROM browsers, unnest(ARRAY[person, coalesce(encode(origin, 'hex'), uid::text)]) AS annotator
    WHERE uid = $1 AND annotator IS NOT NULL ORDER BY key
) AS keys
"""

_SELECT_COUNTS_AND_STATE = """
SELECT shown_item_count, answer_count, state FROM browsers WHERE uid = $1
"""

_ADD_COUNTS = """
UPDATE browsers SET shown_item_count = shown_item_count + $2, answer_count = answer_count + $3,
    last_at = now()
WHERE uid = $1
"""

_UPDATE_STATE = """
UPDATE browsers SET state = $2, reason = $3, set_by = $4 WHERE uid = $1 AND state <> $2
RETURNING 1
"""

_LOCK_ASSIGNED_ITEMS = """
SELECT uid FROM items WHERE uid IN (SELECT item_uid FROM assignments WHERE browser_uid = $1)
ORDER BY uid FOR UPDATE
"""

_UPDATE_COUNTED = "UPDATE assignments SET counted = $2 WHERE browser_uid = $1 AND counted <> $2"

_SELECT_BROWSERS = """
SELECT b.uid, b.template, b.step, b.person, b.user_agent, b.first_at, b.last_at, b.answer_count,
    b.evidence, b.link_uid, b.score, b.state, b.reason, b.set_by,
    coalesce(times.seconds, 0) AS seconds,
    (SELECT count(*) FROM browsers AS other WHERE other.uid <> b.uid
        AND (other.template, other.step, other.owner_group) = (b.template, b.step, b.owner_group)
        AND (other.person = b.person OR other.origin = b.origin
            AND (other.person IS NULL OR b.person IS NULL))) AS same_vote_browsers
FROM browsers AS b LEFT JOIN LATERAL (
    SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) AS seconds FROM assignments
    WHERE browser_uid = b.uid AND answer IS NOT NULL
) AS times ON true
WHERE b.template = $1 AND b.step = $2 AND b.owner_group = $3
    AND ($4::uuid IS NULL OR b.uid = $4)
ORDER BY b.score DESC, b.uid LIMIT $5
"""


@dataclass(frozen=True, slots=True)
class KnownBrowser:
    """A browser that was admitted. ``has_valid_link``: the link that it came by is still valid."""

    uid: UUID
    template: str
    step: str
    owner_group: str
    shown_item_count: int
    answer_count: int
    state: BrowserState
    has_valid_link: bool


async def insert_browser(
    connection: Connection,
    uid: UUID,
    digest: bytes,
    link: StoredLink,
    *,
    user_agent: str,
    origin: bytes | None = None,
) -> None:
    """Store a browser. ``origin``: digest of its address and traits."""
    await connection.execute(
        _INSERT_BROWSER, uid, *link.place, digest, link.uid, link.person, user_agent, origin
    )


async def find_browser(connection: Connection, digest: bytes) -> KnownBrowser | None:
    """Return the browser with this digest, or None."""
    row = await connection.fetchrow(_SELECT_BROWSER_BY_DIGEST, digest)
    if row is None:
        return None
    return KnownBrowser(**{**row, "state": BrowserState(row["state"])})


async def lock_browser(connection: Connection, browser: KnownBrowser) -> KnownBrowser:
    """Return the current state of a browser, and let other requests of its annotator wait.

    They wait until the end of the transaction.
    """
    await connection.execute(_LOCK_BROWSERS_OF_ANNOTATOR, browser.uid)
    [row] = await connection.fetch(_SELECT_COUNTS_AND_STATE, browser.uid)
    state = BrowserState(row["state"])
    return replace(
        browser,
        shown_item_count=row["shown_item_count"],
        answer_count=row["answer_count"],
        state=state,
    )


async def move_to_link(connection: Connection, digest: bytes, link: StoredLink) -> bool:
    """Move a known browser to this link.

    It returns False if the browser is unknown, came to another step or came as another person.
    """
    moved = await connection.fetchval(_MOVE_TO_LINK, digest, link.uid, *link.place, link.person)
    return bool(moved)


async def add_counts(connection: Connection, browser: UUID, *, items: int, answers: int) -> None:
    """Add to the numbers of shown items and of answers of a browser."""
    await connection.execute(_ADD_COUNTS, browser, items, answers)


async def set_browser_state(
    connection: Connection,
    browser: UUID,
    state: BrowserState,
    *,
    reason: str,
    set_by: str | None,
) -> list[UUID] | None:
    """Set the state of a browser, and whether its answers count.

    It locks the items that the browser was shown and returns them; settle them afterwards. It
    returns None if the state was the same before.
    """
    items = [row["uid"] for row in await connection.fetch(_LOCK_ASSIGNED_ITEMS, browser)]
    if await connection.fetchval(_UPDATE_STATE, browser, state, reason, set_by) is None:
        return None
    await connection.execute(_UPDATE_COUNTED, browser, state is BrowserState.COUNTED)
    return items


async def list_browsers(
    connection: Connection, place: HumanStepPlace, *, browser: UUID | None = None, limit: int = 1
) -> list[Mapping[str, Any]]:
    """Return the browsers of a step, the highest score first."""
    rows = await connection.fetch(_SELECT_BROWSERS, *place, browser, limit)
    return [dict(row) for row in rows]
