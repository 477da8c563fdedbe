"""Statements on decided items whose answers go to the WMS."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sluice.contracts.human_tasks.annotation import AnswerInFile
from sluice.contracts.jobs.job_inputs import InputFile
from sluice.contracts.jobs.tasks import TaskOutput
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement

_FREEZE_ITEMS = statement("""
-- Freeze items that were decided long enough ago: their annotations are final.
UPDATE items SET state = '{item.DELIVERING}'
WHERE uid = ANY(ARRAY(
    SELECT uid FROM items WHERE state = '{item.DECIDED}' AND decided_at <= now() - $1::interval
    ORDER BY decided_at LIMIT $2 FOR UPDATE SKIP LOCKED))
""")

_SELECT_TASKS_TO_DELIVER = statement("""
SELECT task_uid, output, ended_at IS NOT NULL AS over FROM questions
WHERE task_uid IN (SELECT task_uid FROM items WHERE state = '{item.DELIVERING}') ORDER BY task_uid
""")

_SELECT_ITEMS_TO_DELIVER = statement("""
SELECT uid, job_id, seq, file, content, answer, agreed, asked_at, decided_at FROM items
WHERE task_uid = $1 AND state = '{item.DELIVERING}' ORDER BY seq LIMIT $2
""")

_SELECT_COUNTED_ANSWERS = """
SELECT a.item_uid, a.answer, a.browser_uid, b.person, a.answered_at, a.seconds FROM assignments AS a
JOIN browsers AS b ON b.uid = a.browser_uid
WHERE a.item_uid = ANY($1::uuid[]) AND a.answer IS NOT NULL AND a.counted
ORDER BY a.item_uid, a.answered_at, a.browser_uid
"""

_MARK_DELIVERED = statement("""
UPDATE items SET state = CASE WHEN done.stale THEN '{item.WITHDRAWN}' ELSE '{item.DELIVERED}' END,
    ended_at = now()
FROM (SELECT i.uid, new.stale FROM items AS i
    JOIN unnest($2::bigint[], $3::boolean[]) AS new (job_id, stale) ON new.job_id = i.job_id
    WHERE i.task_uid = $1 AND i.state = '{item.DELIVERING}' ORDER BY i.uid FOR UPDATE OF i) AS done
WHERE items.uid = done.uid
""")


@dataclass(frozen=True, slots=True)
class TaskWithDecidedItems:
    """A task with answers to be delivered to the WMS.

    Attributes:
        over: The WMS has ended the task. It has the answers that were delivered before.
    """

    uid: UUID
    output: TaskOutput
    over: bool


@dataclass(frozen=True, slots=True)
class DecidedItem:
    """A decided item whose answer is delivered to the WMS."""

    uid: UUID
    job: int
    seq: int
    file: InputFile
    content: Mapping[str, Any]
    answer: str
    agreed: int
    asked_at: datetime
    decided_at: datetime


async def freeze_items(connection: Connection, *, older: timedelta, limit: int) -> None:
    """Fix the answers of items that were decided at least ``older`` ago."""
    await connection.execute(_FREEZE_ITEMS, older, limit)


async def list_tasks_to_deliver(connection: Connection) -> list[TaskWithDecidedItems]:
    """Return the tasks with answers to be delivered."""
    return [
        TaskWithDecidedItems(row["task_uid"], TaskOutput.model_validate(row["output"]), row["over"])
        for row in await connection.fetch(_SELECT_TASKS_TO_DELIVER)
    ]


async def list_items_to_deliver(
    connection: Connection, task: UUID, *, limit: int
) -> list[DecidedItem]:
    """Return up to ``limit`` items of a task with answers to be delivered."""
    return [
        DecidedItem(
            row["uid"],
            row["job_id"],
            row["seq"],
            InputFile.model_validate(row["file"]),
            row["content"],
            row["answer"],
            row["agreed"],
            row["asked_at"],
            row["decided_at"],
        )
        for row in await connection.fetch(_SELECT_ITEMS_TO_DELIVER, task, limit)
    ]


async def list_answers(
    connection: Connection, items: Sequence[UUID]
) -> dict[UUID, list[AnswerInFile]]:
    """Return the counting answers to items, by item."""
    answers_by_item: dict[UUID, list[AnswerInFile]] = {}
    for row in await connection.fetch(_SELECT_COUNTED_ANSWERS, list(items)):
        answers_by_item.setdefault(row["item_uid"], []).append(
            AnswerInFile(
                answer=row["answer"],
                browser_uid=row["browser_uid"],
                person=row["person"],
                answered_at=row["answered_at"],
                seconds=round(row["seconds"], 2),
            )
        )
    return answers_by_item


async def mark_delivered(connection: Connection, task: UUID, jobs: Mapping[int, bool]) -> None:
    """Mark answers as delivered. ``jobs``: by job, whether its answer came too late."""
    await connection.execute(_MARK_DELIVERED, task, list(jobs), list(jobs.values()))
