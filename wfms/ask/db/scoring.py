"""Statements that score browsers by their answers."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from sluice.contracts.common.states import BrowserState
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement

_SELECT_GOLD_ANSWERS = """
-- Annotations of gold items that were not scored yet.
SELECT a.item_uid, a.browser_uid, a.answer, i.known_answer FROM assignments AS a
JOIN items AS i ON i.uid = a.item_uid
WHERE a.gold AND NOT a.scored AND a.answer IS NOT NULL AND a.answered_at <= now() - $1::interval
ORDER BY a.item_uid LIMIT $2
"""

_MARK_GOLD_SCORED = """
UPDATE assignments SET scored = true
FROM unnest($1::uuid[], $2::uuid[]) AS done (item_uid, browser_uid)
WHERE assignments.item_uid = done.item_uid AND assignments.browser_uid = done.browser_uid
"""

_SELECT_UNSCORED_ITEMS = statement("""
SELECT uid FROM items WHERE NOT scored AND state IN ('{item.DECIDED}', '{item.DELIVERING}',
    '{item.DELIVERED}') AND decided_at <= now() - $1::interval
ORDER BY position LIMIT $2
""")

_SELECT_VOTES = """
SELECT item_uid, browser_uid, answer FROM assignments
WHERE item_uid = ANY($1::uuid[]) AND answer IS NOT NULL AND counted
"""

_MARK_ITEMS_SCORED = """
UPDATE items SET scored = true
WHERE uid = ANY(ARRAY(SELECT uid FROM items WHERE uid = ANY($1::uuid[]) ORDER BY uid FOR UPDATE))
"""

_LOCK_EVIDENCE = """
SELECT b.uid, b.evidence, b.state, b.set_by, q.ask FROM browsers AS b
JOIN LATERAL (SELECT ask FROM questions
    WHERE template = b.template AND step = b.step AND owner_group = b.owner_group
    ORDER BY opened_at DESC LIMIT 1) AS q ON true
WHERE b.uid = ANY($1::uuid[]) ORDER BY b.uid FOR UPDATE OF b
"""

_STORE_EVIDENCE = """
UPDATE browsers SET evidence = new.evidence::jsonb, score = new.score
FROM unnest($1::uuid[], $2::text[], $3::float8[]) AS new (uid, evidence, score)
WHERE browsers.uid = new.uid
"""

_TRY_LOCK_SCORING = "SELECT pg_try_advisory_xact_lock(7306085932140157)"


@dataclass(frozen=True, slots=True)
class BrowserEvidence:
    """How carefully a browser answers. ``by_hand``: a person has set its state."""

    uid: UUID
    evidence: dict[str, Any]
    state: BrowserState
    by_hand: bool
    answers: int


async def try_lock_scoring(connection: Connection) -> bool:
    """Return whether this transaction may score browsers: no other instance does until its end."""
    return bool(await connection.fetchval(_TRY_LOCK_SCORING))


async def list_gold_answers(
    connection: Connection, *, older: timedelta, limit: int
) -> list[tuple[UUID, UUID, str, str]]:
    """Return answers to gold items that are not scored yet: item, browser, answer, known answer."""
    rows = await connection.fetch(_SELECT_GOLD_ANSWERS, older, limit)
    return [tuple(row) for row in rows]


async def mark_gold_scored(
    connection: Connection, scored_items: Sequence[tuple[UUID, UUID]]
) -> None:
    """Mark answers to gold items as scored."""
    await connection.execute(
        _MARK_GOLD_SCORED, [item for item, _ in scored_items], [one for _, one in scored_items]
    )


async def list_unscored_items(
    connection: Connection, *, older: timedelta, limit: int
) -> list[UUID]:
    """Return decided items that are not scored yet."""
    return [row["uid"] for row in await connection.fetch(_SELECT_UNSCORED_ITEMS, older, limit)]


async def list_votes(
    connection: Connection, items: Sequence[UUID]
) -> dict[UUID, list[tuple[UUID, str]]]:
    """Return by item which browsers gave which answers."""
    votes_by_item: dict[UUID, list[tuple[UUID, str]]] = {}
    for row in await connection.fetch(_SELECT_VOTES, list(items)):
        votes_by_item.setdefault(row["item_uid"], []).append((row["browser_uid"], row["answer"]))
    return votes_by_item


async def mark_items_scored(connection: Connection, items: Sequence[UUID]) -> None:
    """Mark decided items as scored."""
    await connection.execute(_MARK_ITEMS_SCORED, list(items))


async def lock_evidence(connection: Connection, browsers: Sequence[UUID]) -> list[BrowserEvidence]:
    """Return the evidence of browsers, in the order of their uids, and lock them."""
    return [
        BrowserEvidence(
            row["uid"],
            row["evidence"],
            BrowserState(row["state"]),
            row["set_by"] is not None,
            len(row["ask"]["answers"]),
        )
        for row in await connection.fetch(_LOCK_EVIDENCE, list(browsers))
    ]


async def store_evidence(
    connection: Connection, new_evidence: Mapping[UUID, tuple[Mapping[str, Any], float]]
) -> None:
    """Store by browser its evidence and its score."""
    await connection.execute(
        _STORE_EVIDENCE,
        list(new_evidence),
        [json.dumps(evidence) for evidence, _ in new_evidence.values()],
        [score for _, score in new_evidence.values()],
    )
