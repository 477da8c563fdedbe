"""Take an answer back when its annotator asks for that."""

from uuid import UUID

from sluice.contracts.common.problems import NotFound
from sluice.contracts.common.states import AskItemState
from sluice.contracts.human_tasks.annotation import AnnotatorItem
from wfms.ask.db.assignments import find_assigned_item, lock_items, revoke_answer, settle_items
from wfms.ask.db.browsers import add_counts, lock_browser
from wfms.ask.usecases.annotator_session import AnnotatorSession, to_annotator_item
from wfms.ask.usecases.context import AskContext

_BACK = frozenset({AskItemState.OPEN, AskItemState.DECIDED})


async def undo_answer(context: AskContext, session: AnnotatorSession, item: UUID) -> AnnotatorItem:
    """Take an answer back and assign its item to the browser again.

    Raises:
        NotFound: The browser has not answered the item, or too long ago.
    """
    assignment_context, browser = session.assignment_context(context), session.browser
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        await lock_browser(connection, browser)
        states = await lock_items(connection, [item])
        if (
            not session.ask.undo
            or states.get(item) not in _BACK
            or not await revoke_answer(
                connection, assignment_context, browser.uid, item, within=context.rules.undo
            )
        ):
            raise NotFound("this answer cannot be taken back any more")
        await settle_items(connection, [item])
        await add_counts(connection, browser.uid, items=0, answers=-1)
        source = await find_assigned_item(connection, browser.uid, item)
    if source is None:
        raise NotFound("this item was not shown here")
    return to_annotator_item(item, source.content, assignment_context)
