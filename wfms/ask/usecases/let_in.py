"""Lets browsers in: by a link the first time, by what they keep afterwards."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

from sluice.contracts.problems import NotFound, ServiceError, Unauthenticated
from wfms.ask.db.devices import (
    AskingPlace,
    StoredLink,
    device_by_digest,
    insert_device,
    is_used,
    link_by_digest,
    move_to_link,
)
from wfms.ask.db.progress import asked_now
from wfms.ask.usecases.answer_and_ask import Visitor
from wfms.ask.usecases.context import AskContext

_MOST_BROWSER = 200


class LinkEnded(ServiceError):
    status, slug, title = 410, "link-ended", "The link has ended"


@dataclass(frozen=True, slots=True)
class Entrance:
    """``token``: that the browser is to keep; None: it has one."""

    place: AskingPlace
    token: str | None


def digest_of(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def new_token() -> str:
    return secrets.token_urlsafe(32)


async def enter(context: AskContext, key: str, *, kept: str | None, browser: str) -> Entrance:
    """Precondition: none. ``kept``: what the browser keeps of an earlier visit.

    Effect: the browser is known from now on, by what it kept where that was for this step, and of
    the person that the link is for; such a link lets in one browser.
    Messages: none. Raises ``Unauthenticated`` for a key that is none, ``LinkEnded``.
    """
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        link = await link_by_digest(connection, digest_of(key))
        if link is None:
            raise Unauthenticated("this link is none: was it copied whole?")
        _require_good(link)
        if kept and await move_to_link(connection, digest_of(kept), link):
            return Entrance(link.place, None)
        if link.person is not None and await is_used(connection, link):
            raise LinkEnded("this link was for one browser, which came by it: make another one")
        token = new_token()
        digest = digest_of(token)
        await insert_device(connection, uuid4(), digest, link, browser=browser[:_MOST_BROWSER])
    return Entrance(link.place, token)


def _require_good(link: StoredLink) -> None:
    if link.ended_at is not None or link.until <= datetime.now(UTC):
        raise LinkEnded("this link has ended: ask whoever gave it to you for another one")


async def known_visitor(
    context: AskContext, token: str | None, template: str, step: str
) -> Visitor:
    """Precondition: none. Effect: none. Raises ``Unauthenticated``, ``LinkEnded``; ``NotFound``
    where nothing was ever asked."""
    if not token:
        raise Unauthenticated("open the link that you were given once more")
    async with context.database.connection() as connection:
        device = await device_by_digest(connection, digest_of(token))
        if device is None or (device.template, device.step) != (template, step):
            raise Unauthenticated("open the link that you were given once more")
        if not device.welcome:
            raise LinkEnded("this link has ended: ask whoever gave it to you for another one")
        asked = await asked_now(connection, AskingPlace(template, step, device.owner_group))
    if asked is None:
        raise NotFound(f"step {step} of {template} asks nothing")
    return Visitor(device, *asked)
