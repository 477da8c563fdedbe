"""The page while the question of the step changes, in other languages, and with instructions."""

import json

import pytest
from playwright.async_api import Locator, expect

from tests.e2e.ask.conftest import PHONE, AskSite, answer, locate_item, press

pytestmark = [pytest.mark.xdist_group("e2e-ask"), pytest.mark.asyncio(loop_scope="package")]

HOURS = [{"text": f"Sunday at {hour}:00"} for hour in range(6)]


async def test_next_task_is_shown_with_its_own_question(
    ask_site: AskSite,
) -> None:
    await ask_site.add_task(HOURS[:2], answers=["yes", "no"])
    await ask_site.add_task(HOURS[2:4], answers=["good", "bad"], question="Is it good?")
    async with ask_site.open_browser() as person:
        page = await person.open()
        await answer(page, "yes", "no")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Is it good?")
        await expect(locate_item(page)).to_contain_text("Sunday at 2:00")
        await expect(page.get_by_role("button", name="yes", exact=True)).to_have_count(0)
        await answer(page, "good", "bad")
        await ask_site.require_answers("yes", "no", "good", "bad")


async def test_offline_answer_is_accepted_although_another_question_follows(
    ask_site: AskSite,
) -> None:
    """The answer was given without a connection to the question that was shown then."""
    old = ask_site.human_tasks.task([], agree=1, answers=["yes", "no"])
    await ask_site.human_tasks.import_items()
    await ask_site.add_task(HOURS[:1], answers=["good", "bad"], question="Is it good?")
    async with ask_site.open_browser() as person:
        page = await person.open()
        await expect(locate_item(page)).to_contain_text("Sunday at 0:00")
        await person.context.set_offline(True)
        await answer(page, "good")
        ask_site.human_tasks.add(old, json.dumps(HOURS[5]).encode())
        await ask_site.human_tasks.import_items()
        await person.context.set_offline(False)
        await expect(page.get_by_role("heading", level=1)).to_have_text("Is it a mass?")
        await answer(page, "no")
        await ask_site.require_answers("good", "no")


POLISH = {
    "language": "pl",
    "labels": {"yes": "Tak", "no": "Nie"},
    "question": "Czy to msza?",
    "instructions": "Patrz na godzinę.",
}


async def test_page_is_in_the_language_of_the_template(ask_site: AskSite) -> None:
    await ask_site.add_task(HOURS[:5], **POLISH)
    async with ask_site.open_browser() as person:
        page = await person.open()
        await expect(page.locator("html")).to_have_attribute("lang", "pl")
        await expect(page.get_by_role("heading", level=1)).to_have_attribute("lang", "pl")
        await expect(page.get_by_role("heading", name="Zanim zaczniesz")).to_be_visible()
        await page.get_by_role("button", name="Zaczynam").click()
        await page.get_by_role("button", name="Tak").wait_for()
        await answer(page, "Tak")
        await press(page, "t", "n")
        await ask_site.require_answers("yes", "yes", "no")
        undo = page.get_by_role("button", name="Cofnij „Nie”")
        await expect(undo).to_have_attribute("aria-keyshortcuts", "C")
        await page.keyboard.press("c")
        await expect(page.get_by_role("button", name="Cofnij „Tak”")).to_be_visible()
        await expect(page.locator("#answer-count")).to_have_text("2 odpowiedzi")
        await page.keyboard.press("p")
        await expect(page.get_by_role("dialog")).to_contain_text("Warto wiedzieć")
        await page.get_by_role("button", name="Zamknij").click()
        await person.context.set_offline(True)
        await answer(page, "Nie")
        await expect(page.get_by_role("status").first).to_contain_text("Brak połączenia.")
        english = await page.evaluate(
            "() => [...document.querySelectorAll('[data-text]')].map((each) => each.innerText)"
        )
        assert not {"Undo", "Help", "Begin", "Close", "Keys"} & set(english)


async def test_page_is_in_english_for_a_language_without_a_catalogue(ask_site: AskSite) -> None:
    await ask_site.add_task(HOURS[:1], language="cs", question="Je to mše?")
    async with ask_site.open_browser() as person:
        page = await person.open()
        await expect(page.get_by_role("heading", level=1)).to_have_attribute("lang", "cs")
        await expect(page.get_by_role("button", name="Help")).to_be_visible()
        await expect(page.locator("html")).to_have_attribute("lang", "en")


async def is_at_end(pane: Locator) -> bool:
    is_at_end = "(pane) => pane.scrollTop + pane.clientHeight >= pane.scrollHeight - 1"
    return bool(await pane.evaluate(is_at_end))


async def make_long_instructions(ask_site: AskSite) -> None:
    words = "\n\n".join(
        f"{number}. Look at the hour, and at what stands by it." * 3 for number in range(30)
    )
    await ask_site.add_task(HOURS[:2], instructions=words)


async def test_long_instructions_must_be_read_to_the_end(ask_site: AskSite) -> None:
    await make_long_instructions(ask_site)
    async with ask_site.open_browser(**PHONE) as person:
        page = await person.open()
        begin = page.get_by_role("button", name="Begin")
        await expect(begin).to_be_visible()
        await expect(begin).to_be_in_viewport()
        await expect(begin).to_be_disabled()
        await expect(page.get_by_text("Read to the end to begin")).to_be_visible()
        pane = page.locator("#instructions-pane")
        await pane.evaluate("(pane) => pane.scrollTo(0, pane.scrollHeight / 3)")
        await expect(begin).to_be_disabled()
        await pane.evaluate("(pane) => pane.scrollTo(0, pane.scrollHeight)")
        await expect(begin).to_be_enabled()
        await begin.tap()
        await expect(locate_item(page)).to_contain_text("Sunday at 0:00")


async def test_instructions_can_be_read_by_keyboard(ask_site: AskSite) -> None:
    await make_long_instructions(ask_site)
    async with ask_site.open_browser() as person:
        page = await person.open()
        begin = page.get_by_role("button", name="Begin")
        await expect(begin).to_be_disabled()
        pane = page.locator("#instructions-pane")
        await page.keyboard.press("Tab")
        await expect(pane).to_be_focused()
        await page.keyboard.press("End")
        await expect(begin).to_be_enabled()
        assert await is_at_end(pane)
        await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await expect(locate_item(page)).to_contain_text("Sunday at 0:00")
