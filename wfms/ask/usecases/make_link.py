"""Links that open the page of a step."""

from datetime import timedelta
from uuid import UUID, uuid4

from sluice.contracts.common.problems import Conflict, NotFound
from sluice.contracts.human_tasks.supervision import AskLink, NewLink
from wfms.ask.db.links import HumanStepPlace, StoredLink, end_link, insert_link, list_links
from wfms.ask.db.progress import find_ask
from wfms.ask.usecases.admit_browser import digest_token, new_token
from wfms.ask.usecases.context import AskContext

#: Maximum days of a link for oneself: it may outlive the person's right to sign in.
_OWN_DAYS = 1


async def make_link(
    context: AskContext, place: HumanStepPlace, new: NewLink, *, by: str
) -> tuple[AskLink, str]:
    """Create a link and return it with its key, which is not stored.

    Whoever has the key may answer. A link with ``mine`` admits one browser, whose answers are
    recorded as those of ``by``. The caller must see the step.

    Raises:
        NotFound: The step never asked anything.
        Conflict: The template allows no links for people who are not signed in, or fewer days.
    """
    key = new_token()
    async with context.database.transaction() as transaction:
        ask = await find_ask(transaction.connection, place)
        if ask is None:
            raise NotFound(f"step {place.step} of {place.template} asks no questions")
        if not new.mine and ask.link is None:
            raise Conflict(
                f"step {place.step} of {place.template} is for people who are signed in: its"
                " template has no 'link: DAYS' in 'sluice:ask'"
            )
        max_days = _OWN_DAYS if new.mine else ask.link or 0
        if new.days > max_days:
            audience = "for oneself" if new.mine else "to this step"
            days = "a day" if max_days == 1 else f"{max_days} days"
            raise Conflict(f"a link {audience} opens it for {days} at most")
        stored = await insert_link(
            transaction.connection,
            uid=uuid4(),
            place=place,
            digest=digest_token(key),
            person=by if new.mine else None,
            created_by=by,
            duration=timedelta(days=new.days),
        )
    return to_ask_link(stored), key


async def read_links(context: AskContext, place: HumanStepPlace) -> list[AskLink]:
    """Return the links to a step. The caller must see the step."""
    async with context.database.connection() as connection:
        return [to_ask_link(link) for link in await list_links(connection, place)]


async def close_link(context: AskContext, link: UUID) -> None:
    """End a link. Browsers that came by it are no longer admitted; their answers count.

    Raises:
        Conflict: The link has ended already.
    """
    async with context.database.transaction() as transaction:
        if not await end_link(transaction.connection, link):
            raise Conflict("this link has ended already")


def to_ask_link(link: StoredLink) -> AskLink:
    """Return a link as the API describes it."""
    return AskLink(
        uid=link.uid,
        person=link.person,
        created_by=link.made_by,
        created_at=link.made_at,
        expires_at=link.until,
        ended_at=link.ended_at,
        browsers=link.browsers,
        votes=link.votes,
        answers=link.answers,
    )
