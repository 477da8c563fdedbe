"""Admit a browser by a link."""

import hashlib
from dataclasses import dataclass
from uuid import uuid4

from sluice.contracts.common.problems import Unauthenticated
from wfms.ask.db.browsers import insert_browser, move_to_link
from wfms.ask.db.links import HumanStepPlace, is_link_used, lock_link
from wfms.ask.domain.errors import LinkExpired
from wfms.ask.usecases.context import AnnotatorIdentification, AskContext
from wfms.ask.usecases.tokens import create_token, digest_token

_MAX_USER_AGENT = 200


@dataclass(frozen=True, slots=True)
class Admission:
    """The step that a link opens.

    Attributes:
        token: The new value of the cookie. None means that the browser has a valid one.
    """

    place: HumanStepPlace
    token: str | None


@dataclass(frozen=True, slots=True)
class BrowserOrigin:
    """Where a browser comes from.

    Attributes:
        address: The address of the request.
        user_agent: The ``User-Agent`` header.
        traits: Other headers that the browser sends each time.
    """

    address: str = ""
    user_agent: str = ""
    traits: tuple[str, ...] = ()

    def digest(self, one_vote: AnnotatorIdentification, place: HumanStepPlace) -> bytes | None:
        """Return the digest that identifies a person at a step, or None if origins are not used."""
        if one_vote is AnnotatorIdentification.OFF or not self.address:
            return None
        traits = (
            (self.user_agent, *self.traits) if one_vote is AnnotatorIdentification.BROWSER else ()
        )
        return hashlib.sha256("\0".join([*place, self.address, *traits]).encode()).digest()


async def admit_browser(
    context: AskContext, key: str, *, earlier_token: str | None, origin: BrowserOrigin
) -> Admission:
    """Admit a browser by a link.

    A browser that was at this step before keeps its identity. A link for one person admits one
    browser.

    Args:
        context: The context of the service.
        key: The key of the link.
        earlier_token: The token of an earlier visit.
        origin: Where the browser comes from.

    Raises:
        Unauthenticated: No link has this key.
        LinkExpired: The link is no longer valid.
    """
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        link = await lock_link(connection, digest_token(key))
        if link is None:
            raise Unauthenticated("this link is not valid: check that you copied all of it")
        if not link.is_valid:
            raise LinkExpired(
                "this link is no longer valid: ask the person who gave it to you for another one"
            )
        if earlier_token and await move_to_link(connection, digest_token(earlier_token), link):
            return Admission(link.place, None)
        if link.person is not None and await is_link_used(connection, link):
            raise LinkExpired(
                "this link was for one browser, which has used it: create another link"
            )
        token = create_token()
        digest = digest_token(token)
        await insert_browser(
            connection,
            uuid4(),
            digest,
            link,
            user_agent=origin.user_agent[:_MAX_USER_AGENT],
            origin=origin.digest(context.rules.one_vote, link.place),
        )
    return Admission(link.place, token)
