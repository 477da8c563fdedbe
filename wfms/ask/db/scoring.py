"""Statements that score browsers by their answers."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from sluice.contracts.common.states import DeviceState
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement

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


@dataclass(frozen=True, slots=True)
class DeviceEvidence:
    """How carefully a browser answers. ``by_hand``: a person has set its state."""

    uid: UUID
    evidence: dict[str, Any]
    state: DeviceState
    by_hand: bool
    answers: int


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
