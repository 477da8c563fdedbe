"""Statements on the assignment of items to browsers, and on their answers.

A statement that locks several items locks them in the order of their uids, or skips locked items.
This prevents deadlocks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from sluice.contracts.common.states import AskItemState
from sluice.contracts.human_tasks.ask import Show
from sluice.contracts.jobs.job_inputs import InputFile
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement

_ASSIGN_ITEMS = statement("""
-- Assign up to $4 items that browser $3 has not seen. No other browser of the account has the item
-- or has answered it. No browser of the same origin has seen it within the window $8, unless the
-- two belong to different accounts. Concurrent requests get other items.
WITH me AS (
    SELECT person, origin FROM browsers WHERE uid = $3
), free AS (
    SELECT i.uid FROM items AS i
    WHERE template = $1 AND step = $2 AND owner_group = $6 AND state = '{item.OPEN}'
        AND open_places > 0 AND task_uid = ANY($7::uuid[])
        AND NOT EXISTS (SELECT FROM assignments WHERE item_uid = i.uid AND browser_uid = $3)
        AND NOT EXISTS (
            SELECT FROM me, assignments AS a JOIN browsers AS other ON other.uid = a.browser_uid
            WHERE a.item_uid = i.uid AND (
                other.person = me.person AND (a.answer IS NOT NULL OR a.assigned_until > now())
                OR other.origin = me.origin AND (other.person IS NULL OR me.person IS NULL)
                    AND (a.answered_at IS NULL OR a.answered_at > now() - $8::interval)
            )
        )
    ORDER BY position LIMIT $4 FOR UPDATE OF i SKIP LOCKED
), assigned AS (
    UPDATE items SET open_places = open_places - 1 FROM free WHERE items.uid = free.uid
    RETURNING items.uid, items.content, items.position
), inserted AS (
    INSERT INTO assignments (item_uid, browser_uid, assigned_until, gold)
    SELECT uid, $3, now() + $5::interval, false FROM assigned
)
SELECT uid, content FROM assigned ORDER BY position
""")

_ASSIGN_GOLD_ITEMS = statement("""
-- Gold items that the browser has not seen, from all tasks with the same question.
WITH free AS (
    SELECT uid, content FROM items AS i
    WHERE template = $1 AND step = $2 AND owner_group = $6 AND known_answer IS NOT NULL
        AND task_uid IN (
            SELECT q.task_uid FROM questions AS q JOIN questions AS now ON now.ask = q.ask
            WHERE q.template = $1 AND q.step = $2 AND q.owner_group = $6
                AND now.task_uid = ($7::uuid[])[1]
        )
        AND NOT EXISTS (SELECT FROM assignments WHERE item_uid = i.uid AND browser_uid = $3)
    ORDER BY position LIMIT $4
), inserted AS (
    INSERT INTO assignments (item_uid, browser_uid, assigned_until, gold)
    SELECT uid, $3, now() + $5::interval, true FROM free
)
SELECT uid, content FROM free
""")

_RENEW_ASSIGNMENTS = """
-- Renew assignments of $2 that the browser has not answered.
UPDATE assignments SET assigned_until = now() + $3::interval
FROM items WHERE items.uid = item_uid AND browser_uid = $1 AND item_uid = ANY($2::uuid[])
    AND assigned_until IS NOT NULL AND items.ended_at IS NULL
"""

_LOCK_ITEMS = """
SELECT uid, state FROM items WHERE uid = ANY($1::uuid[]) ORDER BY uid FOR UPDATE
"""

_SELECT_ASSIGNED_ANSWERS = """
SELECT item_uid, answer, (
    SELECT ask -> 'answers' FROM questions JOIN items USING (task_uid) WHERE items.uid = item_uid
) AS possible_answers
FROM assignments WHERE browser_uid = $1 AND item_uid = ANY($2::uuid[])
"""

_STORE_ANSWERS = """
UPDATE assignments SET answer = new.answer, seconds = new.seconds, answered_at = now(),
    assigned_until = NULL, counted = $5
FROM unnest($2::uuid[], $3::text[], $4::real[]) AS new (item_uid, answer, seconds)
WHERE assignments.browser_uid = $1 AND assignments.item_uid = new.item_uid
    AND assignments.answer IS NULL
"""

_REVOKE_ANSWER = """
UPDATE assignments SET answer = NULL, answered_at = NULL, assigned_until = now() + $3::interval,
    seconds = 0
WHERE browser_uid = $1 AND item_uid = $2 AND answered_at > now() - $4::interval
    AND EXISTS (SELECT FROM items WHERE uid = $2 AND task_uid = ANY($5::uuid[]))
RETURNING 1
"""

_SETTLE_ITEMS = statement("""
-- The result of the annotations of each item, and how many more are needed. Only the latest
-- annotation of an account counts, from whatever browser. The items are locked.
WITH annotations AS (
    SELECT DISTINCT ON (item_uid, coalesce(b.person, b.uid::text)) item_uid, answer, answered_at
    FROM assignments JOIN browsers AS b ON b.uid = browser_uid
    WHERE item_uid = ANY($1::uuid[]) AND answer IS NOT NULL AND counted
    ORDER BY item_uid, coalesce(b.person, b.uid::text), answered_at DESC
), votes AS (
    SELECT item_uid, answer, count(*) AS number, min(answered_at) AS first FROM annotations
    GROUP BY item_uid, answer
), best AS (
    SELECT DISTINCT ON (item_uid) item_uid, answer, number FROM votes
    ORDER BY item_uid, number DESC, first
), assigned AS (
    SELECT item_uid, count(*) AS number FROM assignments
    WHERE item_uid = ANY($1::uuid[]) AND assigned_until > now() AND counted GROUP BY item_uid
), results AS (
    SELECT i.uid, best.answer, coalesce(best.number, 0) AS agreed,
        coalesce(assigned.number, 0) AS assigned, coalesce(best.number, 0) >= i.agree AS decided
    FROM items AS i LEFT JOIN best ON best.item_uid = i.uid
    LEFT JOIN assigned ON assigned.item_uid = i.uid
    WHERE i.uid = ANY($1::uuid[])
)
UPDATE items SET
    state = CASE WHEN decided THEN '{item.DECIDED}' ELSE '{item.OPEN}' END,
    answer = CASE WHEN decided THEN results.answer END,
    agreed = results.agreed,
    open_places = CASE WHEN decided THEN 0 ELSE greatest(0, agree - results.agreed - assigned) END,
    decided_at = CASE WHEN decided THEN coalesce(decided_at, now()) END
FROM results WHERE items.uid = results.uid AND state IN ('{item.OPEN}', '{item.DECIDED}')
    AND known_answer IS NULL
""")

_SELECT_LOST_ITEMS = """
SELECT item_uid FROM assignments
WHERE browser_uid = $1 AND assigned_until IS NOT NULL AND NOT (item_uid = ANY($2::uuid[]))
"""

_REASSIGN_ITEMS = statement("""
WITH reassigned AS (
    UPDATE assignments SET assigned_until = now() + $3::interval
    FROM items WHERE items.uid = item_uid AND browser_uid = $1 AND item_uid = ANY($2::uuid[])
        AND items.state = '{item.OPEN}' AND items.task_uid = ANY($4::uuid[])
    RETURNING items.uid, items.content, items.position
)
SELECT uid, content FROM reassigned ORDER BY position
""")

_SELECT_EXPIRED_ASSIGNMENTS = """
-- Items whose assignment has expired. Others may get them, and late annotations still count.
SELECT item_uid FROM assignments WHERE assigned_until <= now() AND assigned_until > '-infinity'
ORDER BY assigned_until LIMIT $1
"""

_END_ASSIGNMENTS = """
UPDATE assignments SET assigned_until = '-infinity'
WHERE item_uid = ANY($1::uuid[]) AND assigned_until <= now() AND assigned_until > '-infinity'
"""

_HAS_UNFINISHED_ITEMS = statement("""
SELECT EXISTS (SELECT FROM items WHERE template = $1 AND step = $2 AND owner_group = $3
    AND state IN ('{item.OPEN}', '{item.DECIDED}', '{item.DELIVERING}')
    AND known_answer IS NULL AND reason = '')
""")

_SELECT_ASSIGNED_ITEM = """
SELECT content, file, line_at, line_size
FROM items JOIN assignments ON assignments.item_uid = items.uid
WHERE items.uid = $1 AND assignments.browser_uid = $2
"""


@dataclass(frozen=True, slots=True)
class AssignedItem:
    """An item that is assigned to a browser."""

    uid: UUID
    content: dict[str, Any]


@dataclass(frozen=True, slots=True)
class AssignedAnswer:
    """An item that a browser was shown.

    Attributes:
        answer: The answer of the browser. None means that it has not answered yet.
        possible_answers: The answers that its question allows.
    """

    answer: str | None
    possible_answers: list[str]


@dataclass(frozen=True, slots=True)
class ItemSource:
    """The content of an item.

    Attributes:
        line: Offset and length in bytes of the item in its file, if known.
    """

    content: dict[str, Any]
    file: InputFile
    line: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class AssignmentContext:
    """Where a browser answers.

    Attributes:
        group: The group that owns the items.
        tasks: The tasks whose items are assigned.
        assignment_duration: How long an item is assigned.
        one_vote_window: How long browsers of one origin count as one person.
    """

    template: str
    step: str
    group: str
    tasks: tuple[UUID, ...]
    show: Show
    assignment_duration: timedelta
    one_vote_window: timedelta


async def assign_items(
    connection: Connection,
    context: AssignmentContext,
    browser: UUID,
    *,
    number: int,
    gold: bool = False,
) -> list[AssignedItem]:
    """Assign up to ``number`` items that neither the browser nor its person has seen.

    No item is assigned to more browsers than it needs answers. With ``gold``, items with known
    answers are assigned.
    """
    if number <= 0:
        return []
    where = (
        context.template,
        context.step,
        browser,
        number,
        context.assignment_duration,
        context.group,
        context.tasks,
    )
    if gold:
        rows = await connection.fetch(_ASSIGN_GOLD_ITEMS, *where)
    else:
        rows = await connection.fetch(_ASSIGN_ITEMS, *where, context.one_vote_window)
    return [AssignedItem(row["uid"], row["content"]) for row in rows]


async def renew_assignments(
    connection: Connection, context: AssignmentContext, browser: UUID, items: Sequence[UUID]
) -> None:
    """Prolong the assignment of those items that the browser has not answered yet."""
    await connection.execute(_RENEW_ASSIGNMENTS, browser, list(items), context.assignment_duration)


async def reassign_lost_items(
    connection: Connection, context: AssignmentContext, browser: UUID, known_items: Sequence[UUID]
) -> list[AssignedItem]:
    """Return items that are assigned to the browser beside those that it ``known_items``.

    They were lost with an earlier response. Their assignment is prolonged.
    """
    lost_items = [
        row["item_uid"]
        for row in await connection.fetch(_SELECT_LOST_ITEMS, browser, list(known_items))
    ]
    if not lost_items:  # the usual case: one statement for both would read all open items
        return []
    rows = await connection.fetch(
        _REASSIGN_ITEMS, browser, lost_items, context.assignment_duration, context.tasks
    )
    return [AssignedItem(row["uid"], row["content"]) for row in rows]


async def lock_items(connection: Connection, items: Sequence[UUID]) -> dict[UUID, AskItemState]:
    """Lock items, and return their states."""
    rows = await connection.fetch(_LOCK_ITEMS, list(items))
    return {row["uid"]: AskItemState(row["state"]) for row in rows}


async def find_assigned_answers(
    connection: Connection, browser: UUID, items: Sequence[UUID]
) -> dict[UUID, AssignedAnswer]:
    """Return those of the items that a browser was shown."""
    rows = await connection.fetch(_SELECT_ASSIGNED_ANSWERS, browser, list(items))
    return {row["item_uid"]: AssignedAnswer(row["answer"], row["possible_answers"]) for row in rows}


async def store_answers(
    connection: Connection,
    browser: UUID,
    answers: Sequence[tuple[UUID, str, float]],
    *,
    counted: bool,
) -> None:
    """Store the answers of a browser: item, answer, seconds."""
    items, words, seconds = ([one[place] for one in answers] for place in range(3))
    await connection.execute(_STORE_ANSWERS, browser, items, words, seconds, counted)


async def revoke_answer(
    connection: Connection,
    context: AssignmentContext,
    browser: UUID,
    item: UUID,
    *,
    within: timedelta,
) -> bool:
    """Revoke an answer, and assign its item to the browser again.

    It returns False if the browser has not answered the item within the time ``within``, or if the
    task has no more questions.
    """
    updated = await connection.fetchval(
        _REVOKE_ANSWER, browser, item, context.assignment_duration, within, context.tasks
    )
    return updated is not None


async def settle_items(connection: Connection, items: Sequence[UUID]) -> None:
    """Recompute state, agreement and free assignments of locked items from their answers."""
    await connection.execute(_SETTLE_ITEMS, list(items))


async def list_expired_assignments(connection: Connection, *, limit: int) -> list[UUID]:
    """Return items whose assignments have expired."""
    return [row["item_uid"] for row in await connection.fetch(_SELECT_EXPIRED_ASSIGNMENTS, limit)]


async def mark_assignments_ended(connection: Connection, items: Sequence[UUID]) -> None:
    """End expired assignments of locked items."""
    await connection.execute(_END_ASSIGNMENTS, list(items))


async def is_anything_open(connection: Connection, context: AssignmentContext) -> bool:
    """Return whether a step has items that are not finished."""
    has_items = await connection.fetchval(
        _HAS_UNFINISHED_ITEMS, context.template, context.step, context.group
    )
    return bool(has_items)


async def find_assigned_item(
    connection: Connection, browser: UUID, item: UUID
) -> ItemSource | None:
    """Return an item, or None if this browser was not shown the item."""
    row = await connection.fetchrow(_SELECT_ASSIGNED_ITEM, item, browser)
    if row is None:
        return None
    line = None if row["line_at"] is None else (row["line_at"], row["line_size"])
    return ItemSource(row["content"], InputFile.model_validate(row["file"]), line)
