"""Statements on questions (tasks of the WMS), and on the items made from their jobs."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sluice.contracts.common.states import AskItemState
from sluice.contracts.human_tasks.annotation import HumanTask
from sluice.contracts.human_tasks.ask import Ask
from sluice.contracts.jobs.job_inputs import InputFile
from sluice.contracts.jobs.tasks import TaskOutput
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement

_INSERT_QUESTION = """
INSERT INTO questions (task_uid, chain_uid, template, step, owner, owner_group, ask, output, files)
VALUES ($1, $2, $3, $4, $5, $6, $7::jsonb, $8::jsonb, $9::jsonb) ON CONFLICT (task_uid) DO NOTHING
"""

_SELECT_OPEN_QUESTIONS = """
SELECT task_uid, template, step, owner_group, ask, output, files, read_to, gold_read
FROM questions WHERE ended_at IS NULL ORDER BY task_uid
"""

_UPDATE_READ_TO = """
-- Return no row if another instance has read the same page.
UPDATE questions SET read_to = $3, reason = '' WHERE task_uid = $1 AND read_to = $2 RETURNING 1
"""

_MARK_GOLD_READ = """
UPDATE questions SET gold_read = true, reason = ''
WHERE task_uid = $1 AND NOT gold_read RETURNING 1
"""

_UPDATE_REASON = "UPDATE questions SET reason = $2 WHERE task_uid = $1 AND reason <> $2"
_UPDATE_GOLD_REASON = "UPDATE questions SET gold_reason = $2 WHERE task_uid = $1"

_INSERT_ITEMS = """
INSERT INTO items (uid, task_uid, template, step, owner_group, job_id, seq, file, content,
    known_answer, state, agree, open_places, reason, line_at, line_size)
SELECT uid, $1, $2, $3, $12, job_id, seq, file::jsonb, content::jsonb, known, $5, $4,
    CASE WHEN known IS NULL AND reason = '' THEN $4 ELSE 0 END, reason, line_at, line_size
FROM unnest($6::uuid[], $7::bigint[], $8::bigint[], $9::text[], $10::text[], $11::text[],
    $13::text[], $14::bigint[], $15::bigint[])
    AS new (uid, job_id, seq, file, content, known, reason, line_at, line_size)
ON CONFLICT DO NOTHING
"""

_END_QUESTION = """
UPDATE questions SET ended_at = now() WHERE task_uid = $1 AND ended_at IS NULL RETURNING 1
"""

_WITHDRAW_ITEMS = statement("""
-- Withdraw the items of a task that has ended, in order of uid like every lock of several items.
-- The WMS may have an item that is being delivered: ask it first. Gold items serve other tasks of
-- the step.
UPDATE items SET state = '{item.WITHDRAWN}', ended_at = now(), open_places = 0
WHERE uid = ANY(ARRAY(
    SELECT uid FROM items
    WHERE task_uid = $1 AND state IN ('{item.OPEN}', '{item.DECIDED}')
        AND known_answer IS NULL
    ORDER BY uid FOR UPDATE))
""")


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question that is not ended. ``read_to``: id of the last job that became an item."""

    task_uid: UUID
    template: str
    step: str
    group: str
    ask: Ask
    output: TaskOutput
    files: Sequence[InputFile]
    read_to: int
    gold_read: bool


@dataclass(frozen=True, slots=True)
class NewItem:
    """An item to be stored.

    Attributes:
        job: The job; None for a gold item.
        known_answer: The known answer of a gold item.
        reason: Why the item cannot be shown; empty if it can.
        line: Offset and length in bytes of the item in its file. None means the whole file.
    """

    uid: UUID
    job: int | None
    seq: int
    file: InputFile
    content: dict[str, Any]
    known_answer: str | None = None
    reason: str = ""
    line: tuple[int, int] | None = None


async def insert_question(connection: Connection, task: HumanTask) -> None:
    """Store the question of a task, unless it is stored."""
    await connection.execute(
        _INSERT_QUESTION,
        task.uid,
        task.chain_uid,
        task.template,
        task.step,
        task.owner,
        task.group,
        task.ask.model_dump(mode="json"),
        task.output.model_dump(mode="json"),
        [file.model_dump(mode="json") for file in task.files],
    )


async def list_open_questions(connection: Connection) -> list[OpenQuestion]:
    """Return the questions that are not ended."""
    return [
        OpenQuestion(
            row["task_uid"],
            row["template"],
            row["step"],
            row["owner_group"],
            Ask.model_validate(row["ask"]),
            TaskOutput.model_validate(row["output"]),
            [InputFile.model_validate(file) for file in row["files"]],
            row["read_to"],
            row["gold_read"],
        )
        for row in await connection.fetch(_SELECT_OPEN_QUESTIONS)
    ]


async def add_items(
    connection: Connection, question: OpenQuestion, items: Sequence[NewItem], *, read_to: int | None
) -> bool:
    """Store new items of a question. Call it within a transaction.

    Args:
        connection: The connection.
        question: The question of the items.
        items: The new items.
        read_to: Id of the last job; None for gold items.

    Returns:
        False if another instance has stored these items.
    """
    if read_to is None:
        claimed = await connection.fetchval(_MARK_GOLD_READ, question.task_uid)
    else:
        claimed = await connection.fetchval(
            _UPDATE_READ_TO, question.task_uid, question.read_to, read_to
        )
    if claimed is None:
        return False
    await connection.execute(
        _INSERT_ITEMS,
        question.task_uid,
        question.template,
        question.step,
        question.ask.agree,
        AskItemState.OPEN,
        [item.uid for item in items],
        [item.job for item in items],
        [item.seq for item in items],
        [item.file.model_dump_json() for item in items],
        [json.dumps(item.content, ensure_ascii=False) for item in items],
        [item.known_answer for item in items],
        question.group,
        [item.reason for item in items],
        [item.line and item.line[0] for item in items],
        [item.line and item.line[1] for item in items],
    )
    return True


async def store_reason(connection: Connection, task: UUID, reason: str) -> None:
    """Store why no more items of a task are imported."""
    await connection.execute(_UPDATE_REASON, task, reason)


async def store_gold_reason(connection: Connection, task: UUID, reason: str) -> None:
    """Store what is wrong with the gold items of a task; empty if nothing is."""
    await connection.execute(_UPDATE_GOLD_REASON, task, reason)


async def end_question(connection: Connection, task: UUID) -> bool:
    """End a question and withdraw its items. Call it within a transaction.

    Returns:
        False if the question had ended before.
    """
    if await connection.fetchval(_END_QUESTION, task) is None:
        return False
    await connection.execute(_WITHDRAW_ITEMS, task)
    return True
