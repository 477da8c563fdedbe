"""Find the step of a browser or of a link."""

from uuid import UUID

from wfms.ask.db.links import HumanStepPlace, find_place_of_link
from wfms.ask.db.progress import find_place_of_browser
from wfms.ask.usecases.context import AskContext


async def find_place(
    context: AskContext, *, browser: UUID | None = None, link: UUID | None = None
) -> HumanStepPlace | None:
    """Return where a browser answers or where a link leads, or None if it is unknown."""
    async with context.database.connection() as connection:
        if browser is not None:
            return await find_place_of_browser(connection, browser)
        return None if link is None else await find_place_of_link(connection, link)
