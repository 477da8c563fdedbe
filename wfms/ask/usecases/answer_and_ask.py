"""Take the answers of a browser and assign the next items to it."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from sluice.contracts.common.problems import Unprocessable
from sluice.contracts.common.states import AskItemState, DeviceState
from sluice.contracts.human_tasks.annotation import (
    MAX_CONCURRENT,
    AnnotatorAnswer,
    AnnotatorItem,
    AnswerResult,
    AnswerState,
    AskNext,
    NextItems,
)
from sluice.contracts.human_tasks.ask import Ask, Show
from sluice.servicekit.database import Connection
from sluice.text.visible_text import quoted
from wfms.ask.db.assignments import (
    AssignedAnswer,
    AssignedItem,
    AssignmentContext,
    assign_items,
    find_assigned_answers,
    is_anything_open,
    lock_items,
    reassign_lost_items,
    renew_assignments,
    settle_items,
    store_answers,
)
from wfms.ask.db.devices import KnownDevice, add_counts, lock_browser
from wfms.ask.domain.trust import is_gold
from wfms.ask.usecases.context import AskContext

#: States of items that take answers.
_ANSWERABLE = frozenset({AskItemState.OPEN, AskItemState.DECIDED})


@dataclass(frozen=True, slots=True)
class AnnotatorSession:
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
            context.rules.assignment_duration,
            context.rules.one_vote_window,
        )


async def answer_and_ask(
    context: AskContext, session: AnnotatorSession, request: AskNext
) -> NextItems:
    """Store the answers of a browser and return its next items.

    Answers may come twice, late, or to items that were never shown. An answer counts once, if its
    item was shown to this browser and is still open. No browser gets an item twice. Requests of one
    browser run one after the other. An excluded browser gets the same responses, but its answers do
    not count.

    Raises:
        Unprocessable: An answer is not one of the possible answers.
    """
    assignment_context = session.assignment_context(context)
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        session = replace(session, device=await lock_browser(connection, session.device))
        device = session.device
        results = await _store_new_answers(connection, session, request.answers)
        accepted = sum(result.state is AnswerState.TAKEN for result in results)
        items = await _assign(connection, assignment_context, session, request)
        if accepted or items:
            await add_counts(connection, device.uid, shown_items=len(items), given_answers=accepted)
        over = not items and not await is_anything_open(connection, assignment_context)
    return NextItems(
        results=results,
        items=[to_annotator_item(item.uid, item.content, assignment_context) for item in items],
        given=device.given + accepted,
        over=over,
        wording=session.wording,
    )


async def _store_new_answers(
    connection: Connection, session: AnnotatorSession, answers: Sequence[AnnotatorAnswer]
) -> list[AnswerResult]:
    if not answers:
        return []
    device = session.device
    first_answers = {answer.item: answer for answer in reversed(answers)}
    states = await lock_items(connection, list(first_answers))
    assigned = await find_assigned_answers(connection, device.uid, list(first_answers))
    for answer in answers:
        words = assigned[answer.item].words if answer.item in assigned else session.ask.answers
        if answer.answer not in words:
            choices = ", ".join(map(quoted, words))
            raise Unprocessable(
                f"{quoted(answer.answer)} is not one of the answers: give one of {choices}"
            )
    answer_states = {item: _get_answer_state(item, states, assigned) for item in first_answers}
    new = [
        first_answers[item] for item, state in answer_states.items() if state is AnswerState.TAKEN
    ]
    if new:
        counts = device.state is DeviceState.COUNTED
        rows = [(answer.item, answer.answer, answer.seconds) for answer in new]
        await store_answers(connection, device.uid, rows, counts=counts)
        await settle_items(connection, [answer.item for answer in new])
    return [
        AnswerResult(item=answer.item, state=answer_states[answer.item])
        for answer in first_answers.values()
    ]


def _get_answer_state(
    item: UUID, states: Mapping[UUID, AskItemState], assigned_answers: Mapping[UUID, AssignedAnswer]
) -> AnswerState:
    if item not in assigned_answers:
        return AnswerState.UNKNOWN
    if assigned_answers[item].answer is not None:
        return AnswerState.ALREADY
    return AnswerState.TAKEN if states[item] in _ANSWERABLE else AnswerState.LATE


async def _assign(
    connection: Connection,
    assignment_context: AssignmentContext,
    session: AnnotatorSession,
    request: AskNext,
) -> list[AssignedItem]:
    """Assign items to a browser.

    Lost items come first. An excluded browser gets gold items only.
    """
    device, ask = session.device, session.ask
    if request.has:
        await renew_assignments(connection, assignment_context, device.uid, request.has)
    if request.requested_items == 0:
        return []
    lost_items = await reassign_lost_items(connection, assignment_context, device.uid, request.has)
    if lost_items:
        return lost_items[:MAX_CONCURRENT]
    if device.state is DeviceState.EXCLUDED:
        return await assign_items(
            connection, assignment_context, device.uid, number=request.requested_items, gold=True
        )
    golden = 0
    # Stop when only gold items are left: their answers are known.
    if ask.gold is not None and await is_anything_open(connection, assignment_context):
        numbers = range(device.shown + 1, device.shown + request.requested_items + 1)
        golden = sum(is_gold(device.uid.int, number, ask.gold_every) for number in numbers)
    gold = await assign_items(connection, assignment_context, device.uid, number=golden, gold=True)
    ordinary = await assign_items(
        connection, assignment_context, device.uid, number=request.requested_items - len(gold)
    )
    return _mix_in_gold(ordinary, gold, device.uid.int)


def _mix_in_gold(
    items: list[AssignedItem], gold: list[AssignedItem], device: int
) -> list[AssignedItem]:
    mixed = list(items)
    for item in gold:
        mixed.insert((item.uid.int ^ device) % (len(mixed) + 1), item)
    return mixed


def to_annotator_item(
    uid: UUID, content: Mapping[str, Any], assignment_context: AssignmentContext
) -> AnnotatorItem:
    """Return an item as the page shows it."""
    image = None
    if assignment_context.show is Show.IMAGE:
        image = f"items/{uid}/image"
    fields = {name: content.get(name) for name in ("text", "mark", "html", "box")}
    return AnnotatorItem(id=uid, title=content.get("title", ""), image=image, **fields)
