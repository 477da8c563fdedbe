"""Statements on links to a human step."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from sluice.servicekit.database import Connection

_INSERT_LINK = """
INSERT INTO links (uid, template, step, owner_group, digest, person, created_by, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, now() + $8::interval) RETURNING created_at, expires_at
"""

_LOCK_LINK_BY_DIGEST = """
-- Other requests with the same link wait for the lock.
SELECT uid, template, step, owner_group, person, created_by, created_at, expires_at, ended_at,
    ended_at IS NULL AND expires_at > now() AS is_valid
FROM links WHERE digest = $1 FOR NO KEY UPDATE
"""

_SELECT_LINKS_OF_STEP = """
-- With the number of browsers of each link. Browsers of one origin have one vote.
SELECT l.uid, l.template, l.step, l.owner_group, l.person, l.created_by, l.created_at,
    l.expires_at, l.ended_at, l.ended_at IS NULL AND l.expires_at > now() AS is_valid,
    b.browsers, b.votes, b.answers
FROM (SELECT * FROM links
    WHERE template = $1 AND step = $2 AND owner_group = $3 ORDER BY created_at DESC LIMIT 200) AS l
LEFT JOIN LATERAL (
    SELECT count(*) AS browsers,
        count(DISTINCT coalesce(encode(origin, 'hex'), uid::text)) AS votes,
        coalesce(sum(answer_count), 0)::bigint AS answers
    FROM browsers WHERE template = $1 AND step = $2 AND owner_group = $3 AND link_uid = l.uid
) AS b ON true ORDER BY l.created_at DESC
"""

_END_LINK = "UPDATE links SET ended_at = now() WHERE uid = $1 AND ended_at IS NULL RETURNING 1"

_SELECT_STEP_OF_LINK = "SELECT template, step, owner_group FROM links WHERE uid = $1"

_IS_LINK_USED = "SELECT EXISTS (SELECT FROM browsers WHERE link_uid = $1)"


class HumanStepPlace(NamedTuple):
    """Where people are asked: a step of a template, and the group that owns the data."""

    template: str
    step: str
    group: str


@dataclass(frozen=True, slots=True)
class StoredLink:
    """A link as it is stored, with the numbers of its browsers, votes and answers.

    Attributes:
        is_valid: Whether it has neither ended nor expired, by the clock of the database.
    """

    uid: UUID
    template: str
    step: str
    owner_group: str
    person: str | None
    created_by: str
    created_at: datetime
    expires_at: datetime
    ended_at: datetime | None
    is_valid: bool
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
    [row] = await connection.fetch(_INSERT_LINK, uid, *place, digest, person, created_by, duration)
    return StoredLink(
        uid,
        *place,
        person,
        created_by,
        row["created_at"],
        row["expires_at"],
        ended_at=None,
        is_valid=True,
    )


async def lock_link(connection: Connection, digest: bytes) -> StoredLink | None:
    """Return the link with this digest, or None, and lock it."""
    row = await connection.fetchrow(_LOCK_LINK_BY_DIGEST, digest)
    return None if row is None else StoredLink(**row)


async def list_links(connection: Connection, place: HumanStepPlace) -> list[StoredLink]:
    """Return the links to a step, newest first."""
    return [StoredLink(**row) for row in await connection.fetch(_SELECT_LINKS_OF_STEP, *place)]


async def find_place_of_link(connection: Connection, link: UUID) -> HumanStepPlace | None:
    """Return the step of a link, or None if the link does not exist."""
    row = await connection.fetchrow(_SELECT_STEP_OF_LINK, link)
    return None if row is None else HumanStepPlace(*row)


async def end_link(connection: Connection, link: UUID) -> bool:
    """End a link; return False if it does not exist or has ended already."""
    return await connection.fetchval(_END_LINK, link) is not None


async def is_link_used(connection: Connection, link: StoredLink) -> bool:
    """Return whether a browser came by this link last."""
    return bool(await connection.fetchval(_IS_LINK_USED, link.uid))
