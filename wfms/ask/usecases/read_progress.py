"""Progress, browsers and answers of steps, for people who watch human tasks."""

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any
from uuid import UUID

from sluice.contracts.access.owners import Visibility
from sluice.contracts.common.problems import NotFound
from sluice.contracts.common.states import DeviceState
from sluice.contracts.human_tasks.ask import Ask
from sluice.contracts.human_tasks.supervision import AskDevice, ExportedAnswer, HumanStep
from wfms.ask.db.devices import list_devices
from wfms.ask.db.links import HumanStepPlace, find_place_of_link
from wfms.ask.db.progress import (
    count_items_by_state,
    find_ask,
    find_place_of_device,
    list_human_steps,
    stream_answers,
)
from wfms.ask.domain.trust import LIMIT, AnswerReference, count_right_answers
from wfms.ask.usecases.context import AskContext

MAX_DEVICES = 1000


async def read_steps(context: AskContext, visibility: Visibility) -> list[HumanStep]:
    """Return the progress of the steps whose groups the caller sees."""
    async with context.database.connection() as connection:
        rows = await list_human_steps(connection, visibility.groups)
        items = await count_items_by_state(connection, sorted({row["template"] for row in rows}))
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
                given=row["answers"],
                last_hour=row["last_hour"],
                seconds=row["seconds"],
                devices=row["devices"],
                excluded=row["excluded"],
                reason=row["reason"],
            )
        )
    return human_steps


async def require_step(context: AskContext, place: HumanStepPlace) -> None:
    """Check that a step asks people, or did.

    Raises:
        NotFound: The step never asked anything.
    """
    async with context.database.connection() as connection:
        if await find_ask(connection, place) is None:
            raise NotFound(
                f"template {place.template} of the group {place.group} has no human task"
                f" {place.step}"
            )


async def read_devices(
    context: AskContext, place: HumanStepPlace, *, device: UUID | None = None
) -> list[AskDevice]:
    """Return the browsers of a step, the highest score first. The caller must see the step."""
    async with context.database.connection() as connection:
        rows = await list_devices(connection, place, device=device, limit=MAX_DEVICES)
    return [_device(row) for row in rows]


def _device(row: Mapping[str, Any]) -> AskDevice:
    evidence = row["evidence"]
    return AskDevice(
        uid=row["uid"],
        person=row["person"],
        browser=row["browser"],
        first_at=row["first_at"],
        last_at=row["last_at"],
        given=row["given"],
        gold=count_right_answers(evidence, AnswerReference.GOLD),
        peers=count_right_answers(evidence, AnswerReference.PEERS),
        score=round(row["score"], 2),
        limit=round(LIMIT, 2),
        seconds=row["seconds"],
        state=DeviceState(row["state"]),
        reason=row["reason"],
        set_by=row["set_by"],
        alike=row["alike"],
        link_uid=row["link_uid"],
    )


async def find_place(
    context: AskContext, *, device: UUID | None = None, link: UUID | None = None
) -> HumanStepPlace | None:
    """Return where a browser answers or where a link leads, or None if it is unknown."""
    async with context.database.connection() as connection:
        if device is not None:
            return await find_place_of_device(connection, device)
        return None if link is None else await find_place_of_link(connection, link)


async def export_answers(context: AskContext, place: HumanStepPlace) -> AsyncIterator[str]:
    """Yield all answers to a step as JSON Lines, also those that do not count.

    The caller must see the step.
    """
    async with context.database.transaction() as transaction:
        async for row in stream_answers(transaction.connection, place):
            yield _line(row)


def _line(row: Mapping[str, Any]) -> str:
    answer = ExportedAnswer(
        task_uid=row["task_uid"],
        number=row["seq"],
        item=row["name"],
        known=row["known_answer"],
        state=row["state"],
        decided=row["decided"],
        device_uid=row["device_uid"],
        person=row["person"],
        answer=row["answer"],
        answered_at=row["answered_at"],
        seconds=round(row["seconds"], 2),
        counts=row["counts"],
    )
    return json.dumps(answer.model_dump(mode="json"), ensure_ascii=False) + "\n"
