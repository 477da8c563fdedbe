"""List the links that open the page of a step."""

from sluice.contracts.human_tasks.supervision import AskLink
from wfms.ask.db import links
from wfms.ask.db.links import HumanStepPlace, StoredLink
from wfms.ask.usecases.context import AskContext


async def list_links(context: AskContext, place: HumanStepPlace) -> list[AskLink]:
    """Return the links to a step. The caller must see the step."""
    async with context.database.connection() as connection:
        return [to_ask_link(link) for link in await links.list_links(connection, place)]


def to_ask_link(link: StoredLink) -> AskLink:
    """Return a link as the API describes it."""
    return AskLink(
        uid=link.uid,
        person=link.person,
        created_by=link.created_by,
        created_at=link.created_at,
        expires_at=link.expires_at,
        ended_at=link.ended_at,
        browsers=link.browsers,
        votes=link.votes,
        answers=link.answers,
    )
