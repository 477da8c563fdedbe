"""The form that starts a chain, in a browser: its accessibility, its width, and no scripts."""

import re

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, Page, expect

from sluice.contracts.templates.templates import NewTemplate
from tests.e2e.web.browser import (
    NARROW_SCREEN,
    PAGE_FITS_WIDTH,
    WIDE,
    open_page,
)
from tests.integration.operator.conftest import Operator
from tests.unit.cwl.samples import OF_TYPES

pytestmark = [pytest.mark.xdist_group("e2e-web"), pytest.mark.asyncio(loop_scope="module")]

FORM = "/chains/new?template=types"
RULES = {"resultTypes": ["violations"]}


async def fill_required_fields(page: Page) -> None:
    sample = page.get_by_role("group", name="sample")
    await sample.get_by_label("label").fill("tumour")
    await sample.get_by_label("layout").select_option("paired")
    await page.get_by_label("rows").fill('[{"name": "a", "value": 1}]')
    await page.get_by_label("cut").fill("7")
    await page.get_by_label("names").fill("a b\nc")
    await page.get_by_label("level").select_option("high")
    await page.get_by_role("group", name="masked").get_by_label("label").fill("m")


async def test_form_of_all_types_passes_axe_and_fits_the_window(
    browser: Browser, base: str, operator: Operator
) -> None:
    await operator.client.store_template(NewTemplate(name="types", cwl=OF_TYPES))
    faults: list[str] = []
    async with open_page(browser, base) as page:
        for is_wrong in (False, True):
            await page.goto(FORM)
            if is_wrong:
                await fill_required_fields(page)
                await page.get_by_label("sizes").first.fill("150\nlong")
                await page.get_by_role("button", name="Start the chain").click()
                await expect(page.get_by_role("alert")).to_contain_text("sample / library / sizes")
            for size, is_dark in ((NARROW_SCREEN, False), (WIDE, False), (WIDE, True)):
                await page.emulate_media(color_scheme="dark" if is_dark else "light")
                await page.set_viewport_size(size)
                violations = (await Axe().run(page, options=RULES)).response["violations"]
                faults += [f"{one['id']}: {one['nodes'][0]['target']}" for one in violations]
                assert await page.evaluate(PAGE_FITS_WIDTH)
    assert faults == []


async def test_form_can_be_sent_without_scripts(
    browser: Browser, base: str, operator: Operator
) -> None:
    await operator.client.store_template(NewTemplate(name="types", cwl=OF_TYPES))
    context = await browser.new_context(
        base_url=base, viewport=NARROW_SCREEN, java_script_enabled=False
    )
    page = await context.new_page()
    await page.goto(FORM)
    await fill_required_fields(page)
    reference = page.get_by_role("group", name="reference")
    await reference.get_by_label("control").select_option("true")
    await page.get_by_role("button", name="Start the chain").click()
    label = reference.get_by_label("label")
    await expect(label).to_have_attribute("aria-invalid", "true")
    await expect(label).to_have_accessible_description(re.compile("is required and has no value"))
    await expect(page.get_by_label("names")).to_have_value("a b\nc")
    assert operator.neighbours.requested == []
    await reference.get_by_label("control").select_option("")
    await page.get_by_role("button", name="Start the chain").click()
    await expect(page.get_by_text("The chain is started.")).to_be_visible()
    await context.close()
    (requested,) = operator.neighbours.requested
    assert requested.params == {
        "sample": {"label": "tumour", "library": {"layout": "paired"}},
        "rows": [{"name": "a", "value": 1}],
        "cut": 7,
        "names": ["a b", "c"],
        "level": "high",
        "masked": {"label": "m"},
    }
