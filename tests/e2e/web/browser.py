"""Debian's Chromium, driven by Playwright."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import (
    Browser,
    ConsoleMessage,
    Page,
    Request,
    ViewportSize,
    async_playwright,
    expect,
)

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
]

#: The browser's own message about an answer like 422; any other console message is a fault.
EXPECTED = "Failed to load resource: the server responded with a status of 4"

WIDE: ViewportSize = {"width": 1280, "height": 900}
NARROW_SCREEN: ViewportSize = {"width": 390, "height": 900}
PAGE_FITS_WIDTH = "document.documentElement.scrollWidth <= innerWidth"


@asynccontextmanager
async def open_chromium() -> AsyncIterator[Browser]:
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.fail(
            "the browser test needs Chromium: apt-get install -y --no-install-recommends chromium"
        )
    expect.set_options(timeout=20_000)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=FLAGS)
        try:
            yield browser
        finally:
            await browser.close()


@asynccontextmanager
async def open_page(browser: Browser, base: str) -> AsyncIterator[Page]:
    """Yield a page; at the end, require that it logged no errors and used no other server.

    Its colours change at once: Axe would measure one in the middle of a transition.
    """
    context = await browser.new_context(base_url=base, viewport=WIDE, reduced_motion="reduce")
    page = await context.new_page()
    page_errors: list[str] = []
    foreign: list[str] = []

    def note_message(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"} and not message.text.startswith(EXPECTED):
            page_errors.append(message.text)

    def note_request(request: Request) -> None:
        if not request.url.startswith(base):
            foreign.append(request.url)

    page.on("console", note_message)
    page.on("pageerror", lambda error: page_errors.append(str(error)))
    page.on("request", note_request)
    try:
        yield page
        assert page_errors == []
        assert foreign == []
    finally:
        await context.close()
