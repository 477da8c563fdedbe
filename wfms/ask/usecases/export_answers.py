"""Export all answers to a step."""

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

from sluice.contracts.human_tasks.supervision import ExportedAnswer
from wfms.ask.db.links import HumanStepPlace
from wfms.ask.db.progress import stream_answers
from wfms.ask.usecases.context import AskContext


async def export_answers(context: AskContext, place: HumanStepPlace) -> AsyncIterator[str]:
    """Yield all answers to a step as JSON Lines, also those that do not count.

    The caller must see the step.
    """
    async with context.database.transaction() as transaction:
        async for row in stream_answers(transaction.connection, place):
            yield _to_line(row)


def _to_line(row: Mapping[str, Any]) -> str:
    answer = ExportedAnswer(
        task_uid=row["task_uid"],
        number=row["seq"],
        item=row["name"],
        known=row["known_answer"],
        state=row["state"],
        decided=row["decided"],
        browser_uid=row["browser_uid"],
        person=row["person"],
        answer=row["answer"],
        answered_at=row["answered_at"],
        seconds=round(row["seconds"], 2),
        counted=row["counted"],
    )
    return json.dumps(answer.model_dump(mode="json"), ensure_ascii=False) + "\n"
