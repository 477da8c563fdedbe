"""List the progress of human tasks by step."""

from sluice.contracts.access.owners import Visibility
from sluice.contracts.human_tasks.ask import Ask
from sluice.contracts.human_tasks.supervision import HumanStep
from wfms.ask.db import progress
from wfms.ask.db.links import HumanStepPlace
from wfms.ask.usecases.context import AskContext


async def list_human_steps(context: AskContext, visibility: Visibility) -> list[HumanStep]:
    """Return the progress of the steps whose groups the caller sees."""
    async with context.database.connection() as connection:
        rows = await progress.list_human_steps(connection, visibility.groups)
        items = await progress.count_items_by_state(
            connection, sorted({row["template"] for row in rows})
        )
    human_steps = []
    for row in rows:
        ask = Ask.model_validate(row["ask"])
        place = HumanStepPlace(row["template"], row["step"], row["owner_group"])
        human_steps.append(
            HumanStep(
                template=place.template,
                step=place.step,
                group=place.group,
                question=ask.question,
                answers=ask.answers,
                link=ask.link,
                tasks=row["tasks"],
                items=items.get(place, {}),
                answer_count=row["answers"],
                last_hour=row["last_hour"],
                seconds=row["seconds"],
                browsers=row["browsers"],
                excluded=row["excluded"],
                reason=row["reason"],
            )
        )
    return human_steps
