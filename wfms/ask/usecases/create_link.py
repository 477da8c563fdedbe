"""Create a link that opens the page of a step."""

from datetime import timedelta
from uuid import uuid4

from sluice.contracts.common.problems import Conflict, NotFound
from sluice.contracts.human_tasks.supervision import AskLink, NewLink
from wfms.ask.db.links import HumanStepPlace, insert_link
from wfms.ask.db.progress import find_ask
from wfms.ask.usecases.context import AskContext
from wfms.ask.usecases.list_links import to_ask_link
from wfms.ask.usecases.tokens import create_token, digest_token

#: Maximum days of a link for oneself: it may outlive the person's right to sign in.
_OWN_DAYS = 1


async def create_link(
    context: AskContext, place: HumanStepPlace, new: NewLink, *, by: str
) -> tuple[AskLink, str]:
    """Create a link and return it with its key, which is not stored.

    Everybody who has the key may answer. A link with ``mine`` admits one browser, whose answers are
    recorded as those of ``by``. The caller must see the step.

    Raises:
        NotFound: The step never asked anything.
        Conflict: The template allows no links for people who are not signed in, or fewer days.
    """
    key = create_token()
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
