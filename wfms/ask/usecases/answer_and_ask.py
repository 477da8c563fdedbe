"""Take the answers of a browser and assign the next items to it."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from sluice.contracts.common.problems import Unprocessable
from sluice.contracts.common.states import AskItemState, DeviceState
from sluice.contracts.human_tasks.ask import Ask, Show
from sluice.contracts.human_tasks.asking import (
    MAX_CONCURRENT,
    AnnotatorAnswer,
    AnnotatorItem,
    AnswerFate,
    AnswerResult,
    AskNext,
    NextItems,
)
from sluice.servicekit.database import Connection
from sluice.text.visible_text import quoted
from wfms.ask.db.assignments import (
    AssignedAnswer,
    AssignedItem,
    AssignmentContext,
    assign,
    is_anything_open,
    lock_items,
    lost,
    renew,
    settle,
    shown_to,
    store_answers,
)
from wfms.ask.db.devices import KnownDevice, browser_alone, count
from wfms.ask.domain.trust import is_gold
from wfms.ask.usecases.context import AskContext

#: States of items that take answers.
_ASKED = frozenset({AskItemState.OPEN, AskItemState.DECIDED})


@dataclass(frozen=True, slots=True)
class Visitor:
    """A browser that may answer, its question, and the tasks that ask it."""

    device: KnownDevice
    ask: Ask
    tasks: tuple[UUID, ...]

    @property
    def wording(self) -> str:
        """Return a digest of the question, which changes when the question changes."""
        return hashlib.sha256(self.ask.model_dump_json().encode()).hexdigest()[:16]

    def assignment_context(self, context: AskContext) -> AssignmentContext:
        """Return where this browser answers."""
        return AssignmentContext(
            self.device.template,
            self.device.step,
            self.device.owner_group,
            self.tasks,
            self.ask.show,
            context.rules.lend,
            context.rules.one_vote_window,
        )


async def answer_and_ask(context: AskContext, visitor: Visitor, asked: AskNext) -> NextItems:
    """Store the answers of a browser and return its next items.

    Answers may come twice, late, or to items that were never shown. An answer counts once, if its
    item was shown to this browser and is still open. No browser gets an item twice. Requests of one
    browser run one after the other. An excluded browser gets the same responses, but its answers do
    not count.

    Raises:
        Unprocessable: An answer is not one of the possible answers.
    """
    assignment_context = visitor.assignment_context(context)
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        visitor = replace(visitor, device=await browser_alone(connection, visitor.device))
        device = visitor.device
        fates = await _take(connection, visitor, asked.answers)
        taken = sum(fate.fate is AnswerFate.TAKEN for fate in fates)
        items = await _assign(connection, assignment_context, visitor, asked)
        if taken or items:
            await count(connection, device.uid, shown=len(items), given=taken)
        over = not items and not await is_anything_open(connection, assignment_context)
    return NextItems(
        fates=fates,
        items=[shown_item(item.uid, item.content, assignment_context) for item in items],
        given=device.given + taken,
        over=over,
        wording=visitor.wording,
    )


async def _take(
    connection: Connection, visitor: Visitor, answers: Sequence[AnnotatorAnswer]
) -> list[AnswerResult]:
    if not answers:
        return []
    device = visitor.device
    first = {given.item: given for given in reversed(answers)}
    states = await lock_items(connection, list(first))
    shown = await shown_to(connection, device.uid, list(first))
    for given in answers:
        words = shown[given.item].words if given.item in shown else visitor.ask.answers
        if given.answer not in words:
            choices = ", ".join(map(quoted, words))
            raise Unprocessable(
                f"{quoted(given.answer)} is none of the answers: give one of {choices}"
            )
    fates = {item: _fate(item, states, shown) for item in first}
    new = [first[item] for item, fate in fates.items() if fate is AnswerFate.TAKEN]
    if new:
        counts = device.standing is DeviceState.COUNTED
        rows = [(given.item, given.answer, given.seconds) for given in new]
        await store_answers(connection, device.uid, rows, counts=counts)
        await settle(connection, [given.item for given in new])
    return [AnswerResult(item=given.item, fate=fates[given.item]) for given in first.values()]


def _fate(
    item: UUID, states: Mapping[UUID, AskItemState], shown: Mapping[UUID, AssignedAnswer]
) -> AnswerFate:
    if item not in shown:
        return AnswerFate.UNKNOWN
    if shown[item].answer is not None:
        return AnswerFate.ALREADY
    return AnswerFate.TAKEN if states[item] in _ASKED else AnswerFate.LATE


async def _assign(
    connection: Connection, assignment_context: AssignmentContext, visitor: Visitor, asked: AskNext
) -> list[AssignedItem]:
    """Assign items to a browser.

    Lost items come first. An excluded browser gets gold items only.
    """
    device, ask = visitor.device, visitor.ask
    if asked.has:
        await renew(connection, assignment_context, device.uid, asked.has)
    if asked.wanted == 0:
        return []
    again = await lost(connection, assignment_context, device.uid, asked.has)
    if again:
        return again[:MAX_CONCURRENT]
    if device.standing is DeviceState.EXCLUDED:
        return await assign(
            connection, assignment_context, device.uid, number=asked.wanted, gold=True
        )
    golden = 0
    # Stop when only gold items are left: their answers are known.
    if ask.gold is not None and await is_anything_open(connection, assignment_context):
        numbers = range(device.shown + 1, device.shown + asked.wanted + 1)
        golden = sum(is_gold(device.uid.int, number, ask.gold_every) for number in numbers)
    known = await assign(connection, assignment_context, device.uid, number=golden, gold=True)
    found = await assign(
        connection, assignment_context, device.uid, number=asked.wanted - len(known)
    )
    return _mixed(found, known, device.uid.int)


def _mixed(items: list[AssignedItem], known: list[AssignedItem], device: int) -> list[AssignedItem]:
    mixed = list(items)
    for item in known:
        mixed.insert((item.uid.int ^ device) % (len(mixed) + 1), item)
    return mixed


def shown_item(
    uid: UUID, content: Mapping[str, Any], assignment_context: AssignmentContext
) -> AnnotatorItem:
    """Return an item as the page shows it."""
    image = None
    if assignment_context.show is Show.IMAGE:
        image = f"items/{uid}/image"
    fields = {name: content.get(name) for name in ("text", "mark", "html", "box")}
    return AnnotatorItem(id=uid, title=content.get("title", ""), image=image, **fields)
