"""Return the question that the page shows, and how the page asks it."""

from sluice.contracts.human_tasks.annotation import AskPage
from wfms.ask.db.assignments import is_anything_open
from wfms.ask.usecases.annotator_session import AnnotatorSession
from wfms.ask.usecases.context import AskContext


async def get_page(context: AskContext, session: AnnotatorSession) -> AskPage:
    """Return the question of the session and how the page asks it."""
    ask = session.ask
    async with context.database.connection() as connection:
        over = not await is_anything_open(connection, session.assignment_context(context))
    return AskPage(
        question=ask.question,
        answers=ask.answers,
        instructions=ask.instructions,
        help=ask.help,
        undo=ask.undo,
        over=over,
        wording=session.wording,
        language=ask.language,
        labels=ask.labels,
    )
