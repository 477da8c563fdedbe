"""The page for annotators in Chromium, with the ask service on a real database and port."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import UUID, uuid4

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Locator, Page

from sluice.servicekit.running.lifecycle import running
from sluice.servicekit.web.server import HttpServer
from tests.callers import allow_everybody
from tests.e2e.web.browser import open_chromium
from tests.integration.ask.conftest import STEP, TEMPLATE, HumanTasks, run_human_tasks
from tests.waiting import eventually
from wfms.ask.usecases.context import AskRules

#: A phone in portrait format with touch input.
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
DESKTOP = {"viewport": {"width": 1400, "height": 900}}
#: Messages of the browser itself about a missing connection or a refused request.
EXPECTED = ("Failed to load resource: net::ERR_", "Failed to load resource: the server responded")

PATH = f"/ask/{quote(TEMPLATE)}/{STEP}"


@dataclass
class AskSite:
    human_tasks: HumanTasks
    browser: Browser
    base: str

    async def add_task(self, items: Sequence[dict[str, Any]], **ask: Any) -> None:
        """Add a task with these items; one annotation decides an item."""
        self.human_tasks.task([json.dumps(item).encode() for item in items], **{"agree": 1, **ask})
        await self.human_tasks.import_items()

    @asynccontextmanager
    async def open_browser(self, **options: Any) -> AsyncIterator["AskedPerson"]:
        """Open a new browser for a person.

        At the end, require that the page logged no errors.
        """
        context = await self.browser.new_context(
            base_url=self.base, user_agent=f"person {uuid4()}", **(options or DESKTOP)
        )
        person = AskedPerson(self, context)
        try:
            yield person
            assert person.page_errors == []
        finally:
            await context.close()

    async def answers(self) -> list[str]:
        """Return all annotations of the service, in the order of items."""
        rows = await self.human_tasks.rows_of(
            "SELECT assignments.answer FROM assignments JOIN items ON items.uid = item_uid"
            " WHERE assignments.answer IS NOT NULL ORDER BY items.position"
        )
        return [answer for (answer,) in rows]

    async def require_answers(self, *answers: str) -> None:
        async def has_answers() -> bool:
            return sorted(await self.answers()) == sorted(answers)

        await eventually(has_answers, what=f"answers {answers} at the service")


class AskedPerson:
    def __init__(self, site: AskSite, context: BrowserContext) -> None:
        self.site, self.context = site, context
        self.page_errors: list[str] = []
        self._has_opened = False

    async def open(self, key: str | None = None) -> Page:
        """Open the page by a link the first time, and by its plain address later.

        Args: key: the key of the link; without a key, a new open link is made.
        """
        page = await self.context.new_page()
        page.on("console", self._record_error)
        page.on("pageerror", lambda error: self.page_errors.append(str(error)))
        if key is None and not self._has_opened:
            key = await self.site.human_tasks.key()
        await page.goto(PATH if key is None else f"{PATH}?key={key}")
        self._has_opened = True
        assert page.url == self.site.base + PATH
        return page

    def _record_error(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"} and not message.text.startswith(EXPECTED):
            self.page_errors.append(message.text)


def locate_item(page: Page) -> Locator:
    """Return the locator of the item that is shown and can be answered."""
    return page.locator("#item:not([data-ready=''])")


async def get_shown_id(page: Page) -> UUID:
    return UUID(await locate_item(page).get_attribute("data-ready"))


async def answer(page: Page, *words: str, tap: bool = False) -> None:
    """Give the answers to the next items, each when a person could have seen the item."""
    for word in words:
        button = page.get_by_role("button", name=word, exact=True)
        before = await get_shown_id(page)
        await repeat_until_next_item(page, button.tap if tap else button.click, before)


async def press(page: Page, *keys: str) -> None:
    for key in keys:
        before = await get_shown_id(page)
        await repeat_until_next_item(page, lambda key=key: page.keyboard.press(key), before)


async def repeat_until_next_item(page: Page, act: Any, before: UUID) -> None:
    """Repeat an action until the next item is shown, as early input does not count."""

    async def has_next_item() -> bool:
        await act()
        now = await page.locator("#item").get_attribute("data-ready")
        return now != str(before)

    await eventually(has_next_item, what="the next item", period=0.1)


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def chrome() -> AsyncIterator[Browser]:
    async with open_chromium() as browser:
        yield browser


@pytest_asyncio.fixture(loop_scope="package")
async def ask_site(
    request: pytest.FixtureRequest, database_url: str, tmp_path: Path, chrome: Browser
) -> AsyncIterator[AskSite]:
    """Yield the page and its service; a test may set other ``AskRules``."""
    rules = getattr(request, "param", AskRules())
    async with run_human_tasks(database_url, tmp_path, rules) as human_tasks:
        server = HttpServer(allow_everybody(human_tasks.app), host="127.0.0.1", port=0)
        async with running(server):
            yield AskSite(human_tasks, chrome, f"http://127.0.0.1:{server.port}")
