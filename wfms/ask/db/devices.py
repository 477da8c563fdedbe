"""Statements on links and browsers."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from sluice.contracts.common.states import DeviceState
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement

INSERT_LINK = """
INSERT INTO links (uid, template, step, owner_group, digest, person, made_by, until)
VALUES ($1, $2, $3, $4, $5, $6, $7, now() + $8::interval) RETURNING made_at, until
"""

LINK_BY_DIGEST = """
-- Other requests with the same link wait for the lock.
SELECT uid, template, step, owner_group, person, made_by, made_at, until, ended_at FROM links
WHERE digest = $1 FOR NO KEY UPDATE
"""

LINKS_OF_STEP = """
-- With the number of browsers of each link. Browsers of one origin have one vote.
SELECT l.uid, l.template, l.step, l.owner_group, l.person, l.made_by, l.made_at, l.until,
    l.ended_at, d.browsers, d.votes, d.answers
FROM (SELECT * FROM links
    WHERE template = $1 AND step = $2 AND owner_group = $3 ORDER BY made_at DESC LIMIT 200) AS l
LEFT JOIN LATERAL (
    SELECT count(*) AS browsers,
        count(DISTINCT coalesce(encode(origin, 'hex'), uid::text)) AS votes,
        coalesce(sum(given), 0)::bigint AS answers
    FROM devices WHERE template = $1 AND step = $2 AND owner_group = $3 AND link_uid = l.uid
) AS d ON true ORDER BY l.made_at DESC
"""

END_LINK = "UPDATE links SET ended_at = now() WHERE uid = $1 AND ended_at IS NULL RETURNING 1"
STEP_OF_LINK = "SELECT template, step, owner_group FROM links WHERE uid = $1"

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

LINK_USED = "SELECT EXISTS (SELECT FROM devices WHERE link_uid = $1)"

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

GOLD_ANSWERS = """
-- Annotations of gold items that were not scored yet.
SELECT s.item_uid, s.device_uid, s.answer, i.known_answer FROM shown AS s
JOIN items AS i ON i.uid = s.item_uid
WHERE s.gold AND NOT s.scored AND s.answer IS NOT NULL AND s.answered_at <= now() - $1::interval
ORDER BY s.item_uid LIMIT $2
"""

GOLD_SCORED = """
UPDATE shown SET scored = true
FROM unnest($1::uuid[], $2::uuid[]) AS done (item_uid, device_uid)
WHERE shown.item_uid = done.item_uid AND shown.device_uid = done.device_uid
"""

DECIDED_ITEMS = statement("""
SELECT uid FROM items WHERE NOT scored AND state IN ('{item.DECIDED}', '{item.GIVING}',
    '{item.GIVEN}') AND decided_at <= now() - $1::interval
ORDER BY position LIMIT $2
""")

VOTES = """
SELECT item_uid, device_uid, answer FROM shown
WHERE item_uid = ANY($1::uuid[]) AND answer IS NOT NULL AND counts
"""

ITEMS_SCORED = """
UPDATE items SET scored = true
WHERE uid = ANY(ARRAY(SELECT uid FROM items WHERE uid = ANY($1::uuid[]) ORDER BY uid FOR UPDATE))
"""

EVIDENCE = """
SELECT d.uid, d.evidence, d.state, d.set_by, q.ask FROM devices AS d
JOIN LATERAL (SELECT ask FROM questions
    WHERE template = d.template AND step = d.step AND owner_group = d.owner_group
    ORDER BY opened_at DESC LIMIT 1) AS q ON true
WHERE d.uid = ANY($1::uuid[]) ORDER BY d.uid FOR UPDATE OF d
"""

STORE_EVIDENCE = """
UPDATE devices SET evidence = new.evidence::jsonb, score = new.score
FROM unnest($1::uuid[], $2::text[], $3::float8[]) AS new (uid, evidence, score)
WHERE devices.uid = new.uid
"""

LOCK_SCORING = "SELECT pg_try_advisory_xact_lock(7306085932140157)"

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


class HumanStepPlace(NamedTuple):
    """Where people are asked: a step of a template, and the group that owns the data."""

    template: str
    step: str
    group: str


@dataclass(frozen=True, slots=True)
class StoredLink:
    """A link as it is stored, with the numbers of its browsers, votes and answers."""

    uid: UUID
    template: str
    step: str
    owner_group: str
    person: str | None
    made_by: str
    made_at: datetime
    until: datetime
    ended_at: datetime | None
    browsers: int = 0
    votes: int = 0
    answers: int = 0

    @property
    def place(self) -> HumanStepPlace:
        """The step that the link opens."""
        return HumanStepPlace(self.template, self.step, self.owner_group)


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


@dataclass(frozen=True, slots=True)
class DeviceEvidence:
    """How carefully a browser answers. ``by_hand``: a person has set its state."""

    uid: UUID
    evidence: dict[str, Any]
    state: DeviceState
    by_hand: bool
    answers: int


async def insert_link(
    connection: Connection,
    *,
    uid: UUID,
    place: HumanStepPlace,
    digest: bytes,
    person: str | None,
    created_by: str,
    duration: timedelta,
) -> StoredLink:
    """Store a link."""
    [row] = await connection.fetch(INSERT_LINK, uid, *place, digest, person, created_by, duration)
    return StoredLink(uid, *place, person, created_by, row["made_at"], row["until"], None)


async def lock_link(connection: Connection, digest: bytes) -> StoredLink | None:
    """Return the link with this digest, or None, and lock it."""
    row = await connection.fetchrow(LINK_BY_DIGEST, digest)
    return None if row is None else StoredLink(**row)


async def list_links(connection: Connection, place: HumanStepPlace) -> list[StoredLink]:
    """Return the links to a step, newest first."""
    return [StoredLink(**row) for row in await connection.fetch(LINKS_OF_STEP, *place)]


async def find_place_of_link(connection: Connection, link: UUID) -> HumanStepPlace | None:
    """Return the step of a link, or None if the link does not exist."""
    row = await connection.fetchrow(STEP_OF_LINK, link)
    return None if row is None else HumanStepPlace(*row)


async def end_link(connection: Connection, link: UUID) -> bool:
    """End a link; return False if it does not exist or has ended already."""
    return await connection.fetchval(END_LINK, link) is not None


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


async def is_link_used(connection: Connection, link: StoredLink) -> bool:
    """Return whether a browser came by this link last."""
    return bool(await connection.fetchval(LINK_USED, link.uid))


async def add_counts(
    connection: Connection, device: UUID, *, shown_items: int, given_answers: int
) -> None:
    """Add to the counts of shown items and given answers of a browser."""
    await connection.execute(COUNT, device, shown_items, given_answers)


async def try_lock_scoring(connection: Connection) -> bool:
    """Return whether this transaction may score browsers: no other instance does until its end."""
    return bool(await connection.fetchval(LOCK_SCORING))


async def list_gold_answers(
    connection: Connection, *, older: timedelta, limit: int
) -> list[tuple[UUID, UUID, str, str]]:
    """Return answers to gold items that are not scored yet: item, browser, answer, known answer."""
    rows = await connection.fetch(GOLD_ANSWERS, older, limit)
    return [tuple(row) for row in rows]


async def mark_gold_scored(
    connection: Connection, scored_items: Sequence[tuple[UUID, UUID]]
) -> None:
    """Mark answers to gold items as scored."""
    await connection.execute(
        GOLD_SCORED, [item for item, _ in scored_items], [one for _, one in scored_items]
    )


async def list_unscored_items(
    connection: Connection, *, older: timedelta, limit: int
) -> list[UUID]:
    """Return decided items that are not scored yet."""
    return [row["uid"] for row in await connection.fetch(DECIDED_ITEMS, older, limit)]


async def list_votes(
    connection: Connection, items: Sequence[UUID]
) -> dict[UUID, list[tuple[UUID, str]]]:
    """Return by item which browsers gave which answers."""
    votes_by_item: dict[UUID, list[tuple[UUID, str]]] = {}
    for row in await connection.fetch(VOTES, list(items)):
        votes_by_item.setdefault(row["item_uid"], []).append((row["device_uid"], row["answer"]))
    return votes_by_item


async def mark_items_scored(connection: Connection, items: Sequence[UUID]) -> None:
    """Mark decided items as scored."""
    await connection.execute(ITEMS_SCORED, list(items))


async def lock_evidence(connection: Connection, devices: Sequence[UUID]) -> list[DeviceEvidence]:
    """Return the evidence of browsers, in the order of their uids, and lock them."""
    return [
        DeviceEvidence(
            row["uid"],
            row["evidence"],
            DeviceState(row["state"]),
            row["set_by"] is not None,
            len(row["ask"]["answers"]),
        )
        for row in await connection.fetch(EVIDENCE, list(devices))
    ]


async def store_evidence(
    connection: Connection, new_evidence: Mapping[UUID, tuple[Mapping[str, Any], float]]
) -> None:
    """Store by browser its evidence and its score."""
    await connection.execute(
        STORE_EVIDENCE,
        list(new_evidence),
        [json.dumps(evidence) for evidence, _ in new_evidence.values()],
        [score for _, score in new_evidence.values()],
    )


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
