"""Every web page, wide and narrow, passes axe-core and has a bounded height on a phone."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
import pytest_asyncio
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, Page, ViewportSize

from sluice.contracts.chains.intake import Unmatched
from sluice.contracts.common.states import DatasetState, DatasetType
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.data.runs import Period, Run
from sluice.contracts.templates.templates import NewTemplate
from sluice.embedded.home import Home
from tests.e2e.systems import LiveSystem
from tests.e2e.web.browser import (
    NARROW_SCREEN,
    PAGE_FITS_WIDTH,
    WIDE,
    open_page,
)
from tests.integration.operator.conftest import Operator
from tests.integration.operator.scene import Scene

pytestmark = [pytest.mark.xdist_group("e2e-web"), pytest.mark.asyncio(loop_scope="module")]

#: Pages of services that have no fake here.
NOT_SERVED = {"/asking", "/audit", "/groups"}
MISSING = "/no-such-page"
#: Maximal height of a page on a phone in CSS pixels, however many objects there are.
MAX_HEIGHT = 10_000
HEIGHT = "document.documentElement.scrollHeight"
RULES = {"resultTypes": ["violations"]}


@pytest_asyncio.fixture(loop_scope="module")
async def crowded_pages(
    operator: Operator, scene: Scene, spd_text: str
) -> AsyncIterator[list[str]]:
    """Add more objects than a page shows; yield the addresses of all pages."""
    neighbours, now = operator.neighbours, datetime.now(UTC)
    neighbours.periods = [Period(name=f"2026-{n:02}", goal="beams " * 9) for n in range(9)]
    neighbours.runs = [
        Run(number=n, period=f"2026-{n % 9:02}", conditions={"energy": n}, frames=9)
        for n in range(40)
    ]
    for number in range(12):
        await operator.client.store_template(NewTemplate(name=f"t-{number:02}", cwl=spd_text))
    for number in range(60):
        dataset = Dataset(
            uid=uuid4(),
            name=f"photographs-of-night-{number:02}",
            type=DatasetType.INPUT,
            state=DatasetState.CLOSED,
            meta={"kind": "photographs"},
            count_files=120,
            bytes=48_000_000,
            timestamp=now,
        )
        neighbours.datasets[dataset.uid] = dataset
        neighbours.unmatched[dataset.uid] = Unmatched(
            dataset_uid=dataset.uid,
            dataset_name=dataset.name,
            reason="no template matches",
            since=now - timedelta(minutes=number),
            dataset=dataset,
        )
        await operator.http.delete(f"/api/v1/secrets/none-{number}")  # Adds a row to the audit log.
    of_one = [
        *(f"/chains/{uid}{part}" for uid in list(neighbours.chains)[:3] for part in ("", "/times")),
        *(f"/tasks/{uid}" for uid in list(neighbours.tasks)[:3]),
        *(f"/datasets/{uid}" for uid in list(neighbours.datasets)[:2]),
        *(f"/pilots/{pilot.uid}" for pilot in neighbours.pilots[:1]),
        "/jobs/1",
        "/runs/1",
        "/templates/spd",
        "/queues/wms.tasks",
        MISSING,
        "/chains/new?dataset=run-0312-frames&template=spd",
    ]
    yield sorted(operator.pages - NOT_SERVED) + of_one


@pytest.mark.long("axe-core takes a second for each page; widths are checked in test_web_page.py")
async def test_pages_pass_axe_and_are_not_too_high(
    browser: Browser, base: str, crowded_pages: list[str]
) -> None:
    async with open_page(browser, base) as page:
        faults = [fault for path in crowded_pages for fault in await find_faults(page, path)]
    assert faults == []


@pytest.mark.long("starts a whole system, as these pages need its services")
async def test_pages_of_other_services_pass_axe(browser: Browser, system: LiveSystem) -> None:
    token = Home(system.home).token.read_text().strip()
    headers = {"Authorization": f"Bearer {token}"}
    context = await browser.new_context(
        base_url=system.url, extra_http_headers=headers, reduced_motion="reduce"
    )
    page = await context.new_page()
    faults = [fault for path in sorted(NOT_SERVED) for fault in await find_faults(page, path)]
    await context.close()
    assert faults == []


async def find_faults(page: Page, path: str) -> list[str]:
    """Return what is wrong with a page on a wide screen and on a phone."""
    faults: list[str] = []
    await page.set_viewport_size(WIDE)
    answer = await page.goto(path)
    assert answer is not None
    assert answer.status == (404 if path == MISSING else 200), path
    for size in (WIDE, NARROW_SCREEN):
        await page.set_viewport_size(size)
        violations = (await Axe().run(page, options=RULES)).response["violations"]
        faults += [
            f"{path} at {size['width']}: {one['id']}: {one['nodes'][0]['target']}"
            for one in violations
        ]
        if not await page.evaluate(PAGE_FITS_WIDTH):
            faults.append(f"{path} at {size['width']}: wider than the window")
    height = await page.evaluate(HEIGHT)
    if height > MAX_HEIGHT:
        faults.append(f"{path}: {height} pixels high on a phone")
    return faults


async def test_menu_opens_on_a_phone(browser: Browser, base: str) -> None:
    async with open_page(browser, base) as page:
        await page.set_viewport_size(NARROW_SCREEN)
        await page.goto("/people")
        link = page.get_by_role("navigation", name="Main").get_by_role("link", name="Pilots")
        assert not await link.is_visible()
        await page.get_by_role("button", name="Menu").click()
        await link.click()
        await page.wait_for_url("**/pilots")
        await page.set_viewport_size(WIDE)
        assert await link.is_visible()


@pytest.mark.parametrize("size", [WIDE, NARROW_SCREEN], ids=["wide", "phone"])
async def test_every_page_of_the_navigation_is_reachable_by_keyboard(
    browser: Browser, base: str, size: ViewportSize
) -> None:
    async with open_page(browser, base) as page:
        await page.set_viewport_size(size)
        await page.goto("/people")
        pages = await page.eval_on_selector_all(
            "nav[aria-label=Main] a", "links => links.map(link => link.getAttribute('href'))"
        )
        assert len(pages) > 10
        reached: list[str | None] = []
        for _ in range(len(pages) + 5):
            await page.keyboard.press("Tab")
            if await page.evaluate("document.activeElement.matches('[popovertarget]')"):
                await page.keyboard.press("Enter")
            reached.append(await page.evaluate("document.activeElement.getAttribute('href')"))
        assert [path for path in pages if path not in reached] == []
