"""Progress, browsers and answers of steps, for people who watch human tasks."""

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any
from uuid import UUID

from sluice.contracts.access.owners import Visibility
from sluice.contracts.common.problems import NotFound
from sluice.contracts.common.states import DeviceState
from sluice.contracts.human_tasks.ask import Ask
from sluice.contracts.human_tasks.asking_watch import AskDevice, ExportedAnswer, HumanStep
from wfms.ask.db.devices import AskingPlace, devices_of_step, place_of_link
from wfms.ask.db.progress import all_answers, ask_of, asking_steps, items_by_state, place_of_device
from wfms.ask.domain.trust import LIMIT, AnswerReference, right_of
from wfms.ask.usecases.context import AskContext

MAX_DEVICES = 1000


async def read_steps(context: AskContext, visibility: Visibility) -> list[HumanStep]:
    """Return the progress of the steps whose groups the caller sees."""
    async with context.database.connection() as connection:
        rows = await asking_steps(connection, visibility.groups)
        items = await items_by_state(connection, sorted({row["template"] for row in rows}))
    found = []
    for row in rows:
        ask = Ask.model_validate(row["ask"])
        place = AskingPlace(row["template"], row["step"], row["owner_group"])
        found.append(
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
    return found


async def require_step(context: AskContext, place: AskingPlace) -> None:
    """Check that a step asks people, or did.

    Raises:
        NotFound: The step never asked anything.
    """
    async with context.database.connection() as connection:
        if await ask_of(connection, place) is None:
            raise NotFound(
                f"no step {place.step} of template {place.template} asks people of {place.group}"
            )


async def read_devices(
    context: AskContext, place: AskingPlace, *, device: UUID | None = None
) -> list[AskDevice]:
    """Return the browsers of a step, the highest score first. The caller must see the step."""
    async with context.database.connection() as connection:
        rows = await devices_of_step(connection, place, device=device, most=MAX_DEVICES)
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
        gold=right_of(evidence, AnswerReference.GOLD),
        peers=right_of(evidence, AnswerReference.PEERS),
        score=round(row["score"], 2),
        limit=round(LIMIT, 2),
        seconds=row["seconds"],
        standing=DeviceState(row["standing"]),
        reason=row["reason"],
        set_by=row["set_by"],
        alike=row["alike"],
        link_uid=row["link_uid"],
    )


async def place_of(
    context: AskContext, *, device: UUID | None = None, link: UUID | None = None
) -> AskingPlace | None:
    """Return where a browser answers or where a link leads, or None if it is unknown."""
    async with context.database.connection() as connection:
        if device is not None:
            return await place_of_device(connection, device)
        return None if link is None else await place_of_link(connection, link)


async def export_answers(context: AskContext, place: AskingPlace) -> AsyncIterator[str]:
    """Yield all answers to a step as JSON Lines, also those that do not count.

    The caller must see the step.
    """
    async with context.database.transaction() as transaction:
        async for row in all_answers(transaction.connection, place):
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
