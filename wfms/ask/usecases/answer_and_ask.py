"""Take the answers of a browser and assign the next items to it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from sluice.contracts.common.problems import Unprocessable
from sluice.contracts.common.states import AskItemState, BrowserState
from sluice.contracts.human_tasks.annotation import (
    MAX_CONCURRENT,
    AnnotatorAnswer,
    AnswerResult,
    AnswerState,
    AskNext,
    NextItems,
)
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
from wfms.ask.db.browsers import add_counts, lock_browser
from wfms.ask.domain.trust import is_gold
from wfms.ask.usecases.annotator_session import AnnotatorSession, to_annotator_item
from wfms.ask.usecases.context import AskContext

#: States of items that take answers.
_ANSWERABLE = frozenset({AskItemState.OPEN, AskItemState.DECIDED})


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
        session = replace(session, browser=await lock_browser(connection, session.browser))
        browser = session.browser
        results = await _store_new_answers(connection, session, request.answers)
        accepted = sum(result.state is AnswerState.TAKEN for result in results)
        items = await _assign(connection, assignment_context, session, request)
        if accepted or items:
            await add_counts(connection, browser.uid, items=len(items), answers=accepted)
        over = not items and not await is_anything_open(connection, assignment_context)
    return NextItems(
        results=results,
        items=[to_annotator_item(item.uid, item.content, assignment_context) for item in items],
        answer_count=browser.answer_count + accepted,
        over=over,
        wording=session.wording,
    )


async def _store_new_answers(
    connection: Connection, session: AnnotatorSession, answers: Sequence[AnnotatorAnswer]
) -> list[AnswerResult]:
    if not answers:
        return []
    browser = session.browser
    first_answers = {answer.item: answer for answer in reversed(answers)}
    states = await lock_items(connection, list(first_answers))
    assigned = await find_assigned_answers(connection, browser.uid, list(first_answers))
    for answer in answers:
        possible_answers = session.ask.answers
        if answer.item in assigned:
            possible_answers = assigned[answer.item].possible_answers
        if answer.answer not in possible_answers:
            choices = ", ".join(map(quoted, possible_answers))
            raise Unprocessable(
                f"{quoted(answer.answer)} is not one of the answers: give one of {choices}"
            )
    answer_states = {item: _get_answer_state(item, states, assigned) for item in first_answers}
    new = [
        first_answers[item] for item, state in answer_states.items() if state is AnswerState.TAKEN
    ]
    if new:
        counted = browser.state is BrowserState.COUNTED
        rows = [(answer.item, answer.answer, answer.seconds) for answer in new]
        await store_answers(connection, browser.uid, rows, counted=counted)
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
    browser, ask = session.browser, session.ask
    if request.has:
        await renew_assignments(connection, assignment_context, browser.uid, request.has)
    if request.requested_items == 0:
        return []
    lost_items = await reassign_lost_items(connection, assignment_context, browser.uid, request.has)
    if lost_items:
        return lost_items[:MAX_CONCURRENT]
    if browser.state is BrowserState.EXCLUDED:
        return await assign_items(
            connection, assignment_context, browser.uid, number=request.requested_items, gold=True
        )
    golden = 0
    # Stop when only gold items are left: their answers are known.
    if ask.gold is not None and await is_anything_open(connection, assignment_context):
        numbers = range(
            browser.shown_item_count + 1, browser.shown_item_count + request.requested_items + 1
        )
        golden = sum(is_gold(browser.uid.int, number, ask.gold_every) for number in numbers)
    gold = await assign_items(connection, assignment_context, browser.uid, number=golden, gold=True)
    ordinary = await assign_items(
        connection, assignment_context, browser.uid, number=request.requested_items - len(gold)
    )
    return _mix_in_gold(ordinary, gold, browser.uid.int)


def _mix_in_gold(
    items: list[AssignedItem], gold: list[AssignedItem], browser: int
) -> list[AssignedItem]:
    mixed = list(items)
    for item in gold:
        mixed.insert((item.uid.int ^ browser) % (len(mixed) + 1), item)
    return mixed
