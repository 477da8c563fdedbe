"""The web pages in Debian's Chromium, driven by Playwright, with a real server.

The tests need the program ``chromium`` and fail without it.
"""

from pathlib import Path

import pytest
from playwright.async_api import (
    Browser,
    Page,
    expect,
)

from sluice.contracts.common.states import ChainState, TaskState
from sluice.contracts.data.datasets import NewDataset
from sluice.contracts.templates.templates import NewTemplate
from tests.e2e.web.browser import NARROW_SCREEN, PAGE_FITS_WIDTH, WIDE, open_page
from tests.integration.operator.conftest import Operator
from tests.integration.operator.scene import Counts, Scene
from tests.unit.cwl.documents.two_files import TOOL, WORKFLOW

#: The tests share one event loop, as they share the browser.
pytestmark = [pytest.mark.xdist_group("e2e-web"), pytest.mark.asyncio(loop_scope="module")]


async def test_template_is_uploaded_after_a_mistake_and_its_steps_are_drawn(
    browser: Browser, base: str, spd_text: str
) -> None:
    async with open_page(browser, base) as page:
        await page.goto("/")
        await page.get_by_role("link", name="Upload a template").click()
        bad = spd_text.replace("scatter: hits", "scatter: hitz", 1)
        await page.get_by_label("Name").fill("from-the-browser")
        await page.get_by_text("or write it here").click()
        await page.get_by_label("Text of the workflow").fill(bad)
        await page.get_by_role("button", name="Check and compare").click()
        line = next(number for number, text in enumerate(bad.splitlines(), 1) if "hitz" in text)
        await page.get_by_role("link", name=f"line {line}", exact=True).click()
        await expect(page.locator(f"#L{line}")).to_be_in_viewport()
        await expect(page.get_by_label("Name")).to_have_value("from-the-browser")
        await expect(page.get_by_label("Text of the workflow")).to_have_value(bad)
        await page.get_by_label("Text of the workflow").fill(spd_text)
        await page.get_by_role("button", name="Check and compare").click()
        await expect(page.get_by_role("heading", name="Publish from-the-browser?")).to_be_visible()
        await page.get_by_role("button", name="Publish version 1").click()
        await expect(
            page.get_by_role("status").filter(has_text="Published as version 1.")
        ).to_be_visible()
        drawing = page.get_by_role("region", name="Flow of the steps")
        for step in ("decode", "build_events", "filter_events", "verify", "merge"):
            await expect(drawing.locator("text.name").get_by_text(step, exact=True)).to_be_visible()


async def test_folder_is_uploaded_and_a_chain_is_started(
    browser: Browser, base: str, operator: Operator, tmp_path: Path
) -> None:
    folder = tmp_path / "counting"
    (folder / "tools").mkdir(parents=True)
    (folder / "workflow.cwl").write_text(WORKFLOW)
    (folder / "tools" / "join.cwl").write_text(TOOL)
    await operator.client.register_dataset(NewDataset(name="run-1", on_demand=True))
    async with open_page(browser, base) as page:
        await page.goto("/templates")
        await page.get_by_label("or a folder").set_input_files(folder)
        await page.get_by_role("button", name="Check and compare").click()
        await page.get_by_role("button", name="Publish version 1").click()
        await expect(page.get_by_role("heading", name="counting v1")).to_be_visible()
        await page.get_by_text("counting/tools/join.cwl").click()
        await expect(page.locator("#F2-L3")).to_be_in_viewport()
        await page.get_by_role("link", name="Start a chain").click()
        await page.get_by_label("Data set").fill("run-1")
        await page.get_by_role("button", name="Continue").click()
        await page.get_by_label("limit").fill("few")
        await page.get_by_role("button", name="Start the chain").click()
        await expect(page.get_by_text("Must be a whole number, not 'few'.")).to_be_visible()
        await page.get_by_label("limit").fill("7")
        await page.get_by_role("button", name="Start the chain").click()
        await expect(
            page.get_by_role("status").filter(has_text="The chain is started.")
        ).to_be_visible()
    assert operator.neighbours.requested[0].params == {"limit": 7}


async def test_progress_is_updated_and_a_chain_is_canceled_after_confirmation(
    browser: Browser, base: str, operator: Operator, scene: Scene
) -> None:
    chain = next(
        one for one in operator.neighbours.chains.values() if one.dataset_name == "run-0312-frames"
    )
    task = next(
        one
        for one in operator.neighbours.tasks.values()
        if one.chain_uid == chain.uid and one.step == "build_events"
    )
    async with open_page(browser, base) as page:
        await page.goto(f"/chains/{chain.uid}")
        step = page.locator("#steps li", has_text="build_events")
        await expect(step.get_by_role("img")).to_have_attribute(
            "aria-label", "31 of 59 jobs finished, 8 with pilots, 20 waiting"
        )
        operator.neighbours.tasks[task.uid] = task.model_copy(update={"finished": 51, "ready": 0})
        await expect(step.get_by_role("img")).to_have_attribute(
            "aria-label", "51 of 59 jobs finished, 8 with pilots"
        )

        page.once("dialog", lambda dialog: dialog.dismiss())
        await page.get_by_role("button", name="Cancel the chain").click()
        assert operator.neighbours.chains[chain.uid].state is ChainState.IN_PROGRESS
        page.once("dialog", lambda dialog: dialog.accept())
        await page.get_by_role("button", name="Cancel the chain").click()
        await expect(
            page.get_by_role("status").filter(
                has_text="The chain is being canceled; its running jobs are stopped first."
            )
        ).to_be_visible()
        assert operator.neighbours.chains[chain.uid].reason == "canceled by request"
        await expect(page.get_by_role("button", name="Cancel the chain")).to_have_count(0)
        await expect(page.get_by_text("ends as soon as its running jobs have")).to_be_visible()


async def test_names_of_ended_chains_are_shown_in_full_on_a_wide_screen(
    browser: Browser, base: str, scene: Scene
) -> None:
    """On a narrow screen they leave space for the rest of the table."""
    scene.chain("photographs-of-2026-11-24-night-3", 5, [], ChainState.FINISHED)
    async with open_page(browser, base) as page:
        await page.goto("/")
        name = page.get_by_role("region", name="Ended last").get_by_role("link").first
        assert await name.evaluate("name => name.scrollWidth <= name.clientWidth")
        await page.set_viewport_size(NARROW_SCREEN)
        width = await page.evaluate("document.documentElement.scrollWidth")
        assert width == NARROW_SCREEN["width"]


async def test_update_of_a_page_keeps_typed_text_and_keyboard_focus(
    browser: Browser, base: str, operator: Operator, scene: Scene
) -> None:
    task = next(one for one in operator.neighbours.tasks.values() if one.quarantined)
    async with open_page(browser, base) as page:
        await page.goto(f"/tasks/{task.uid}")
        await page.get_by_label("Rank").fill("77")
        operator.neighbours.tasks[task.uid] = task.model_copy(
            update={"rank": 3.0, "failed_attempts": 99}
        )
        await expect(page.get_by_text("99 attempts did not succeed")).to_be_visible(timeout=15_000)
        await expect(page.get_by_label("Rank")).to_have_value("77")
        await page.get_by_role("button", name="Change").click()
        await expect(page.get_by_text("The rank is 77 now.")).to_be_visible()
        assert operator.neighbours.tasks[task.uid].state is TaskState.ACTIVE


async def test_markup_in_a_log_stays_text(browser: Browser, base: str, scene: Scene) -> None:
    async with open_page(browser, base) as page:
        await page.goto("/jobs/1")
        await expect(page.get_by_text("<script>document.title = 'taken'</script>")).to_be_visible()
        assert await page.title() == "Job 1 · Sluice"


async def add_long_names(operator: Operator, scene: Scene, spd_text: str) -> list[str]:
    """Add chains, data sets and a template with names of maximal length, and return their pages."""
    name = "run-" + "0123456789" * 17
    counts = [Counts(finished=2, failed=1, running=1, total=4)]
    damaged, reason = [Counts(failed=4, total=4)], f"step decode: {name} is damaged"
    long_names = scene.chain(name, 3, counts, ChainState.IN_PROGRESS)
    failed = scene.chain(name + "x", 3, damaged, ChainState.FAILED, reason=reason)
    template = await operator.client.store_template(NewTemplate(name="t" * 200, cwl=spd_text))
    long_scene = Scene(operator.neighbours, template, scene.folder, scene.now)
    long_template = long_scene.chain(name, 2, counts, ChainState.IN_PROGRESS)
    long_scene.chain(name, 2, damaged, ChainState.FAILED, reason=reason)
    return [
        f"/chains/{long_template.uid}",
        f"/tasks/{long_template.steps[0].task_uid}",
        f"/templates/{template.name}",
        f"/chains/{long_names.uid}",
        f"/chains/{failed.uid}",
        f"/tasks/{long_names.steps[0].task_uid}",
        f"/datasets/{long_names.dataset_uid}",
    ]


#: Pages whose tables must fit their cards, too.
LISTS = ("/", "/chains", "/tasks")
PAGES = (
    *LISTS,
    "/templates",
    "/templates/spd",
    "/jobs/1",
    "/datasets",
    "/datasets/unmatched",
    "/storages",
    "/chains/new",
    "/chains/new?dataset=run-0312-frames&template=spd",
    "/no",
    "/nowhere",
)
CARDS_FIT = """
    [...document.querySelectorAll('.card.table')].every(
        card => card.scrollWidth <= card.clientWidth)
"""


async def test_pages_fit_the_window(
    browser: Browser, base: str, operator: Operator, scene: Scene, spd_text: str
) -> None:
    """Names of maximal length have no place to break; the wide screen is light, the narrow one
    dark.
    """
    neighbours = operator.neighbours
    first, task = next(iter(neighbours.chains)), list(neighbours.tasks)[2]
    paths = [*PAGES, f"/chains/{first}", f"/tasks/{task}"]
    paths.append(f"/datasets/{next(iter(neighbours.datasets))}")
    paths += await add_long_names(operator, scene, spd_text)
    async with open_page(browser, base) as page:
        for path in paths:
            await page.emulate_media(color_scheme="light")
            await page.set_viewport_size(WIDE)
            await page.goto(path)
            await check_width(page, path)
            await page.emulate_media(color_scheme="dark")
            await page.set_viewport_size(NARROW_SCREEN)
            await check_width(page, path)


async def check_width(page: Page, path: str) -> None:
    assert await page.evaluate(PAGE_FITS_WIDTH), path
    if path in LISTS:
        assert await page.evaluate(CARDS_FIT), path


async def test_wide_plan_scrolls_and_fades_at_the_cut_side(
    browser: Browser, base: str, scene: Scene, operator: Operator
) -> None:
    mask = "flow => getComputedStyle(flow).maskImage"
    async with open_page(browser, base) as page:
        for path in ("/templates/spd", f"/chains/{next(iter(operator.neighbours.chains))}"):
            await page.set_viewport_size(NARROW_SCREEN)
            await page.goto(path)
            flow = page.locator(".flow")
            assert "to left" in await flow.evaluate(mask), "the right side must fade"
            await flow.focus()
            await flow.evaluate(
                "flow => { window.scrolled = new Promise(done => flow.onscroll ="
                " () => done(flow.scrollLeft)) }"
            )
            await page.keyboard.press("ArrowRight")
            assert await page.evaluate("window.scrolled") > 0
            assert await flow.evaluate(mask) == "none", "the focused picture must be whole"
            await page.set_viewport_size(WIDE)
            await page.goto(path)
            assert await page.locator(".flow").evaluate(mask) == "none", "it fits"


async def test_tables_of_the_first_page_are_side_by_side_only_if_both_fit(
    browser: Browser, base: str, scene: Scene
) -> None:
    async with open_page(browser, base) as page:
        await page.goto("/")
        for width in range(720, WIDE["width"], 20):
            await page.set_viewport_size({"width": width, "height": 900})
            assert await page.evaluate(CARDS_FIT), width


async def test_every_control_is_reachable_by_keyboard_and_has_a_name(
    browser: Browser, base: str, scene: Scene
) -> None:
    async with open_page(browser, base) as page:
        await page.goto("/tasks")
        await page.keyboard.press("Tab")
        await expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
        await page.keyboard.press("Enter")
        assert await page.evaluate("document.activeElement.id") == "content"
        unnamed = await page.evaluate(
            "[...document.querySelectorAll('a, button, input:not([type=hidden]),"
            " textarea')].filter(one => !(one.textContent.trim() || one.ariaLabel ||"
            " one.labels?.length)).length"
        )
        assert unnamed == 0
