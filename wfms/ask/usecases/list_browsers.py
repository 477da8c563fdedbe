"""List the browsers in which annotators answer a step."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sluice.contracts.common.states import BrowserState
from sluice.contracts.human_tasks.supervision import AskBrowser
from wfms.ask.db import browsers
from wfms.ask.db.links import HumanStepPlace
from wfms.ask.domain.trust import LIMIT, AnswerReference, count_right_answers
from wfms.ask.usecases.context import AskContext

MAX_BROWSERS = 1000


async def list_browsers(
    context: AskContext, place: HumanStepPlace, *, browser: UUID | None = None
) -> list[AskBrowser]:
    """Return the browsers of a step, the highest score first. The caller must see the step."""
    async with context.database.connection() as connection:
        rows = await browsers.list_browsers(connection, place, browser=browser, limit=MAX_BROWSERS)
    return [_to_ask_browser(row) for row in rows]


def _to_ask_browser(row: Mapping[str, Any]) -> AskBrowser:
    evidence = row["evidence"]
    return AskBrowser(
        uid=row["uid"],
        person=row["person"],
        user_agent=row["user_agent"],
        first_at=row["first_at"],
        last_at=row["last_at"],
        answer_count=row["answer_count"],
        gold=count_right_answers(evidence, AnswerReference.GOLD),
        peers=count_right_answers(evidence, AnswerReference.PEERS),
        score=round(row["score"], 2),
        limit=round(LIMIT, 2),
        seconds=row["seconds"],
        state=BrowserState(row["state"]),
        reason=row["reason"],
        set_by=row["set_by"],
        same_vote_browsers=row["same_vote_browsers"],
        link_uid=row["link_uid"],
    )
