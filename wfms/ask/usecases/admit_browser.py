"""Admit browsers: by a link the first time, by their cookie afterwards."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

from sluice.contracts.common.problems import NotFound, ServiceError, Unauthenticated
from wfms.ask.db.devices import find_device, insert_device, move_to_link
from wfms.ask.db.links import HumanStepPlace, StoredLink, is_link_used, lock_link
from wfms.ask.db.progress import find_current_ask
from wfms.ask.usecases.answer_and_ask import AnnotatorSession
from wfms.ask.usecases.context import AskContext, VoterIdentification

_MAX_BROWSER = 200


class LinkExpired(ServiceError):
    """The link is no longer valid."""

    status, slug, title = 410, "link-ended", "The link has ended"


@dataclass(frozen=True, slots=True)
class Admission:
    """The step that a link opens.

    Attributes:
        token: The new value of the cookie. None means that the browser has a valid one.
    """

    place: HumanStepPlace
    token: str | None


def digest_token(token: str) -> bytes:
    """Return the digest under which a token is stored."""
    return hashlib.sha256(token.encode()).digest()


def new_token() -> str:
    """Return a random token."""
    return secrets.token_urlsafe(32)


@dataclass(frozen=True, slots=True)
class BrowserOrigin:
    """Where a browser comes from.

    Attributes:
        address: The address of the request.
        browser: The ``User-Agent`` header.
        traits: Other headers that the browser sends each time.
    """

    address: str = ""
    browser: str = ""
    traits: tuple[str, ...] = ()

    def digest(self, one_vote: VoterIdentification, place: HumanStepPlace) -> bytes | None:
        """Return the digest that identifies a person at a step, or None if origins are not used."""
        if one_vote is VoterIdentification.OFF or not self.address:
            return None
        traits = (self.browser, *self.traits) if one_vote is VoterIdentification.BROWSER else ()
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
        _require_good(link)
        if earlier_token and await move_to_link(connection, digest_token(earlier_token), link):
            return Admission(link.place, None)
        if link.person is not None and await is_link_used(connection, link):
            raise LinkExpired(
                "this link was for one browser, which has used it: create another link"
            )
        token = new_token()
        digest = digest_token(token)
        await insert_device(
            connection,
            uuid4(),
            digest,
            link,
            browser=origin.browser[:_MAX_BROWSER],
            origin=origin.digest(context.rules.one_vote, link.place),
        )
    return Admission(link.place, token)


def _require_good(link: StoredLink) -> None:
    if link.ended_at is not None or link.until <= datetime.now(UTC):
        raise LinkExpired(
            "this link is no longer valid: ask the person who gave it to you for another one"
        )


async def authenticate_annotator(
    context: AskContext, token: str | None, template: str, step: str
) -> AnnotatorSession:
    """Return the session that a token identifies, and what its annotator is asked.

    Raises:
        Unauthenticated: The token is missing, unknown or of another step.
        LinkExpired: The link that the browser came by has ended.
        NotFound: The step never asked anything.
    """
    if not token:
        raise Unauthenticated("open your link again")
    async with context.database.connection() as connection:
        device = await find_device(connection, digest_token(token))
        if device is None or (device.template, device.step) != (template, step):
            raise Unauthenticated("open your link again")
        if not device.has_valid_link:
            raise LinkExpired(
                "this link is no longer valid: ask the person who gave it to you for another one"
            )
        current = await find_current_ask(
            connection, HumanStepPlace(template, step, device.owner_group)
        )
    if current is None:
        raise NotFound(f"step {step} of {template} asks no questions")
    return AnnotatorSession(device, *current)
