"""Items on the page: texts, HTML and images."""

import base64
from io import BytesIO

import pytest
from PIL import Image
from playwright.async_api import expect

from tests.e2e.ask.conftest import PHONE, AskSite, answer, locate_item

pytestmark = [pytest.mark.xdist_group("e2e-ask"), pytest.mark.asyncio(loop_scope="package")]


async def test_marked_place_of_a_text_is_highlighted_and_visible(ask_site: AskSite) -> None:
    """The mark counts characters, some of which are two units of a JavaScript string."""
    before = "🙂🙂 Holy Cross\n" + "Announcements\n" * 300
    text = before + "10:30" + "\nOffice" * 300
    await ask_site.add_task([{"text": text, "mark": [len(before), len(before) + 5]}])
    async with ask_site.open_browser(**PHONE) as person:
        page = await person.open()
        mark = locate_item(page).locator("mark")
        await expect(mark).to_have_text("10:30")
        await expect(mark).to_be_in_viewport(ratio=1)
        lines = (
            await locate_item(page).locator("p").evaluate("one => getComputedStyle(one).whiteSpace")
        )
        assert lines == "pre-wrap"


async def test_distant_parts_of_a_long_text_are_shown_on_demand(ask_site: AskSite) -> None:
    text = "begin " + "a " * 4000 + "mark " + "b " * 4000 + "end"
    place = text.index("mark")
    await ask_site.add_task([{"text": text, "mark": [place, place + 4]}])
    async with ask_site.open_browser() as person:
        page = await person.open()
        item = locate_item(page)
        await expect(item.locator("mark")).to_be_in_viewport()
        await expect(item).not_to_contain_text("begin")
        await item.get_by_role("button", name="Show what stands before").click()
        await item.get_by_role("button", name="Show what follows").click()
        await expect(item.locator("p")).to_have_text(text)


async def test_html_is_shown_without_scripts_external_resources_and_links(
    ask_site: AskSite,
) -> None:
    html = """<h2>Masses</h2><script>document.title = "taken"</script>
        <img src="http://elsewhere.test/seen" onerror="document.title = 'taken'">
        <p onclick="document.title = 'taken'" style="position: fixed">Sunday <mark>9:00</mark></p>
        <a href="http://elsewhere.test/">map</a><style>body { display: none }</style>"""
    await ask_site.add_task([{"html": html}], show="html")
    async with ask_site.open_browser() as person:
        page = await person.open()
        requested_urls: list[str] = []
        page.on("request", lambda request: requested_urls.append(request.url))
        item = locate_item(page)
        await expect(item.get_by_role("heading", name="Masses")).to_be_visible()
        await expect(item.locator("mark")).to_be_in_viewport()
        await expect(item.locator("script, img, style")).to_have_count(0)
        await item.get_by_text("Sunday").click()
        await item.get_by_text("map").click()
        assert "taken" not in await page.title()
        assert page.url.startswith(ask_site.base)
        assert [url for url in requested_urls if not url.startswith(ask_site.base)] == []


def make_picture(width: int, height: int) -> str:
    data = BytesIO()
    Image.new("RGB", (width, height), "navy").save(data, "PNG")
    return base64.b64encode(data.getvalue()).decode()


async def test_image_shows_its_box_and_can_be_enlarged(ask_site: AskSite) -> None:
    item = {"image": make_picture(1600, 1000), "box": [800, 250, 80, 50], "title": "Exposure 7"}
    await ask_site.add_task([item, item], show="image", answers=["star", "galaxy"])
    async with ask_site.open_browser(**PHONE) as person:
        page = await person.open()
        shown = locate_item(page)
        image = shown.get_by_role("img", name="Image: Exposure 7, with a box")
        for _ in range(2):
            await expect(image).to_be_in_viewport(ratio=1)
            outer, inner = await image.bounding_box(), await shown.locator(".box").bounding_box()
            assert outer is not None
            assert inner is not None
            assert outer["width"] / outer["height"] == pytest.approx(1.6, rel=0.01)
            part = outer["width"] / 1600
            assert inner["x"] - outer["x"] == pytest.approx(800 * part, abs=1)
            assert inner["y"] - outer["y"] == pytest.approx(250 * part, abs=1)
            assert inner["width"] == pytest.approx(80 * part, abs=1)
            await page.get_by_role("button", name="Closer").tap()
            near = await shown.locator(".box").bounding_box()
            assert near is not None
            assert near["width"] > 3 * inner["width"]
            await expect(shown.locator(".box")).to_be_in_viewport(ratio=1)
            await page.get_by_role("button", name="Closer").tap()
            await answer(page, "star", tap=True)
