"""Recognise an annotator by the cookie of the browser."""

from sluice.contracts.common.problems import NotFound, Unauthenticated
from wfms.ask.db.browsers import find_browser
from wfms.ask.db.links import HumanStepPlace
from wfms.ask.db.progress import find_current_ask
from wfms.ask.domain.errors import LinkExpired
from wfms.ask.usecases.annotator_session import AnnotatorSession
from wfms.ask.usecases.context import AskContext
from wfms.ask.usecases.tokens import digest_token


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
        browser = await find_browser(connection, digest_token(token))
        if browser is None or (browser.template, browser.step) != (template, step):
            raise Unauthenticated("open your link again")
        if not browser.has_valid_link:
            raise LinkExpired(
                "this link is no longer valid: ask the person who gave it to you for another one"
            )
        current = await find_current_ask(
            connection, HumanStepPlace(template, step, browser.owner_group)
        )
    if current is None:
        raise NotFound(f"step {step} of {template} asks no questions")
    return AnnotatorSession(browser, *current)
