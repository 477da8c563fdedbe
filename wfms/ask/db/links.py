"""Statements on links to a human step."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from sluice.servicekit.database import Connection

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

LINK_USED = "SELECT EXISTS (SELECT FROM devices WHERE link_uid = $1)"


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


async def is_link_used(connection: Connection, link: StoredLink) -> bool:
    """Return whether a browser came by this link last."""
    return bool(await connection.fetchval(LINK_USED, link.uid))
