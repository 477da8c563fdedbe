"""People answer on the page, by touch and by keyboard, with and without a connection."""

import re
from datetime import timedelta

import pytest
from playwright.async_api import Page, Route, expect

from tests.e2e.ask.conftest import (
    DESKTOP,
    PATH,
    PHONE,
    AskSite,
    answer,
    get_shown_id,
    locate_item,
    press,
)
from tests.waiting import eventually
from wfms.ask.usecases.context import AskRules

pytestmark = [pytest.mark.xdist_group("e2e-ask"), pytest.mark.asyncio(loop_scope="package")]

HOURS = [{"text": f"Sunday at {hour}:00", "title": f"Parish {hour}"} for hour in range(40)]


async def test_person_answers_by_touch_after_reading_the_instructions(ask_site: AskSite) -> None:
    await ask_site.add_task(HOURS[:3], instructions="Look at the hour.", help="Noon is one, too.")
    async with ask_site.open_browser(**PHONE) as person:
        page = await person.open()
        await expect(page.locator("#instructions")).to_contain_text("Look at the hour.")
        await expect(page.locator("#annotation")).to_be_hidden()
        await page.get_by_role("button", name="Begin").tap()
        await expect(page.get_by_role("heading", level=1)).to_have_text("Is it a mass?")
        await expect(locate_item(page)).to_contain_text("Sunday at 0:00")
        await expect(page.locator("kbd").first).to_be_hidden()
        await page.get_by_role("button", name="Help").tap()
        dialog = page.get_by_role("dialog")
        await expect(dialog).to_contain_text("Look at the hour.")
        await expect(dialog).to_contain_text("Noon is one, too.")
        await dialog.get_by_role("button", name="Close").tap()
        await answer(page, "yes", "no", "no", tap=True)
        await expect(page.get_by_role("heading", level=2)).to_have_text("Nothing for you right now")
        await expect(page.get_by_text("Thank you: you gave 3 answers.")).to_be_visible()
        await ask_site.require_answers("yes", "no", "no")
        await page.reload()
        await expect(page.get_by_text("Thank you: you gave 3 answers.")).to_be_visible()
    rows = await ask_site.human_tasks.rows_of("SELECT seconds FROM assignments")
    assert all(seconds > 0 for (seconds,) in rows)


async def test_person_answers_and_undoes_by_keyboard(ask_site: AskSite) -> None:
    await ask_site.add_task(HOURS[:9])
    async with ask_site.open_browser() as person:
        page = await person.open()
        await expect(page.get_by_role("button", name="yes").locator("kbd")).to_have_text("y")
        await press(page, "y", "j", "n", "1", "2")
        await ask_site.require_answers("yes", "yes", "no", "yes", "no")
        await page.keyboard.press("u")
        await expect(locate_item(page)).to_contain_text("Sunday at 4:00")
        await press(page, "y")
        await ask_site.require_answers("yes", "yes", "no", "yes", "yes")
        await page.keyboard.press("h")
        await page.get_by_label("Answer by single keys").uncheck()
        await page.keyboard.press("Escape")
        shown = await get_shown_id(page)
        await page.keyboard.press("y")
        assert await get_shown_id(page) == shown
        await expect(page.locator("#answers kbd").first).to_be_hidden()


async def test_answers_with_the_same_initial_have_digits_as_keys(ask_site: AskSite) -> None:
    await ask_site.add_task(HOURS[:2], answers=["star", "streak", "unclear", "galaxy"])
    async with ask_site.open_browser() as person:
        page = await person.open()
        await expect(page.locator("#answers kbd")).to_have_text(["1", "2", "3", "g"])
        await press(page, "2", "g")
        await ask_site.require_answers("streak", "galaxy")


async def test_offline_answers_are_kept_and_sent_later(ask_site: AskSite) -> None:
    await ask_site.add_task(HOURS)
    async with ask_site.open_browser(**PHONE) as person:
        page = await person.open()
        await answer(page, "yes", tap=True)
        await ask_site.require_answers("yes")
        await person.context.set_offline(True)
        await answer(page, "no", "yes", tap=True)
        await expect(page.get_by_role("status")).to_have_text(
            "No connection. 2 answers are kept here and sent later."
        )
        assert await ask_site.answers() == ["yes"]
        await person.context.set_offline(False)
        await ask_site.require_answers("yes", "no", "yes")
        await expect(page.get_by_role("status")).to_be_empty()
        await answer(page, "no", tap=True)
        await ask_site.require_answers("yes", "no", "yes", "no")


async def test_page_without_items_and_connection_continues_when_online(
    ask_site: AskSite,
) -> None:
    await ask_site.add_task(HOURS)
    async with ask_site.open_browser() as person:
        page = await person.open()
        await locate_item(page).wait_for()
        await person.context.set_offline(True)
        attempts = 0
        while not await page.get_by_role("heading", name="No connection").is_visible():
            await answer(page, "yes")
            attempts += 1
        assert attempts >= 3
        await expect(page.get_by_text(f"{attempts} answers of yours are kept")).to_be_visible()
        await person.context.set_offline(False)
        await expect(locate_item(page)).to_contain_text(f"Sunday at {attempts}:00")
        await ask_site.require_answers(*["yes"] * attempts)


async def test_unsent_answers_of_a_closed_browser_are_sent_on_the_next_visit(
    ask_site: AskSite,
) -> None:
    await ask_site.add_task(HOURS[:6])
    async with ask_site.open_browser() as person:
        page = await person.open()
        await locate_item(page).wait_for()
        await person.context.set_offline(True)
        await answer(page, "yes", "no")
        waiting = await get_shown_id(page)
        await page.close()
        await person.context.set_offline(False)
        assert await ask_site.answers() == []
        page = await person.open()
        assert await get_shown_id(page) == waiting, "the page shows the same item"
        await ask_site.require_answers("yes", "no")
        await answer(page, *["yes"] * 4)
        await ask_site.require_answers("no", *["yes"] * 5)


async def test_answer_whose_receipt_is_lost_counts_once(ask_site: AskSite) -> None:
    await ask_site.add_task(HOURS[:6])
    lost: list[int] = []

    async def drop_receipt(route: Route) -> None:
        """Drop the answer of the service to the first request with an answer."""
        if lost or '"answer"' not in (route.request.post_data or ""):
            await route.continue_()
            return
        answered = await route.fetch()
        lost.append(answered.status)
        await route.abort()

    async with ask_site.open_browser() as person:
        page = await person.open()
        await locate_item(page).wait_for()
        await page.route("**/next", drop_receipt)
        await answer(page, "yes", "no", "yes")
        await expect(page.locator("#answer-count")).to_have_text("3 answers given")
        await ask_site.require_answers("yes", "no", "yes")
        await expect(page.get_by_role("status")).to_be_empty()
    assert lost == [200]
    [(answer_count,)] = await ask_site.human_tasks.rows_of("SELECT answer_count FROM browsers")
    assert answer_count == 3


async def test_only_one_of_two_tabs_is_active(ask_site: AskSite) -> None:
    await ask_site.add_task(HOURS[:8])
    async with ask_site.open_browser() as person:
        first = await person.open()
        await answer(first, "yes")
        waiting = await get_shown_id(first)
        second = await person.open()
        await expect(first.get_by_text("You went on in another tab")).to_be_visible()
        await first.keyboard.press("n")
        assert await get_shown_id(second) == waiting
        await answer(second, "yes", "no")
        third = await get_shown_id(second)
        await first.get_by_role("button", name="Go on here").click()
        await expect(second.get_by_text("You went on in another tab")).to_be_visible()
        assert await get_shown_id(first) == third
        await answer(first, *["yes"] * 5)
        await ask_site.require_answers("no", *["yes"] * 7)


async def test_undo_goes_back_several_sent_and_unsent_answers(ask_site: AskSite) -> None:
    await ask_site.add_task(HOURS[:8])
    async with ask_site.open_browser(**PHONE) as person:
        page = await person.open()
        await answer(page, "yes", "yes", tap=True)
        await ask_site.require_answers("yes", "yes")
        await person.context.set_offline(True)
        await answer(page, "no", tap=True)
        undo = page.get_by_role("button", name=re.compile("^Undo"))
        await expect(undo).to_have_accessible_name(re.compile("Undo “no”"))
        for hour in (2, 1, 0):
            await undo.tap()
            await expect(locate_item(page)).to_contain_text(f"Sunday at {hour}:00")
        await expect(undo).to_be_disabled()
        await page.keyboard.press("u")
        await expect(page.get_by_role("status")).to_have_text("There is nothing left to take back.")
        await answer(page, "no", "no", "yes", tap=True)
        await person.context.set_offline(False)
        await ask_site.require_answers("no", "no", "yes")
        await expect(locate_item(page)).to_contain_text("Sunday at 3:00")


async def test_answer_can_be_undone_after_a_reload(ask_site: AskSite) -> None:
    await ask_site.add_task(HOURS[:1])
    async with ask_site.open_browser() as person:
        page = await person.open()
        await answer(page, "yes")
        await ask_site.require_answers("yes")
        await page.reload()
        await page.get_by_role("button", name="Undo my last answer").click()
        await expect(locate_item(page)).to_contain_text("Sunday at 0:00")
        await ask_site.require_answers()
        await answer(page, "no")
        await ask_site.require_answers("no")


@pytest.mark.parametrize("ask_site", [AskRules(undo=timedelta(0))], indirect=True)
async def test_answer_stays_if_its_undo_comes_too_late(ask_site: AskSite) -> None:
    await ask_site.add_task(HOURS[:3])
    async with ask_site.open_browser() as person:
        page = await person.open()
        await answer(page, "yes")
        await ask_site.require_answers("yes")
        await eventually(lambda: has_no_unsent_answer(page), what="the receipt of the answer")
        await page.keyboard.press("u")
        await expect(page.get_by_role("status")).to_contain_text("can’t be taken back any more")
        await expect(locate_item(page)).to_contain_text("Sunday at 1:00")
        assert await ask_site.answers() == ["yes"]


@pytest.mark.parametrize("ask_site", [AskRules(undo=timedelta(0))], indirect=True)
async def test_answer_stays_if_its_undo_comes_before_its_receipt_and_too_late(
    ask_site: AskSite,
) -> None:
    """The page does not know whether the service has the answer. The second answer has no effect,
    and the person is told.
    """
    await ask_site.add_task(HOURS[:3])
    async with ask_site.open_browser() as person:
        page = await person.open()
        await locate_item(page).wait_for()
        await page.route("**/next", drop_receipt)
        await answer(page, "yes")
        await ask_site.require_answers("yes")
        await page.keyboard.press("u")
        await expect(locate_item(page)).to_contain_text("Sunday at 0:00")
        await page.unroute("**/next")
        await answer(page, "no")
        await expect(page.get_by_role("status")).to_contain_text("can’t be taken back any more")
        assert await ask_site.answers() == ["yes"]


async def has_no_unsent_answer(page: Page) -> bool:
    has_unsent_answer = "Object.keys(localStorage).some((name) => name.includes('answer '))"
    return not await page.evaluate(has_unsent_answer)


async def drop_receipt(route: Route) -> None:
    await route.fetch()
    await route.abort("connectionreset")


async def test_keys_pressed_before_an_item_is_visible_are_ignored(ask_site: AskSite) -> None:
    await ask_site.add_task(HOURS[:4])
    async with ask_site.open_browser() as person:
        page = await person.open()
        await answer(page, "yes")
        second = await get_shown_id(page)
        await page.clock.install()
        await page.clock.pause_at(await page.evaluate("Date.now() + 5000"))
        await page.keyboard.press("y")
        third = await get_shown_id(page)
        assert third != second
        await page.keyboard.press("y")
        assert await get_shown_id(page) == third
        await page.clock.run_for(500)
        await page.keyboard.press("y")
        assert await get_shown_id(page) != third


async def test_time_in_the_help_dialog_is_not_counted(ask_site: AskSite) -> None:
    await ask_site.add_task(HOURS[:2])
    async with ask_site.open_browser() as person:
        page = await person.open()
        await locate_item(page).wait_for()
        await page.clock.install()
        await page.reload()
        await locate_item(page).wait_for()
        await page.clock.run_for(7_000)
        await page.keyboard.press("h")
        await page.clock.fast_forward(2_000_000)
        await page.keyboard.press("Escape")
        await answer(page, "yes")
        await ask_site.require_answers("yes")
    [(seconds,)] = await ask_site.human_tasks.rows_of(
        "SELECT seconds FROM assignments WHERE answer = 'yes'"
    )
    assert 7 <= seconds < 2000


async def test_page_explains_an_ended_link_and_a_missing_session(ask_site: AskSite) -> None:
    await ask_site.add_task(HOURS[:3])
    async with ask_site.open_browser() as person:
        page = await person.open()
        await answer(page, "yes")
        await ask_site.require_answers("yes")
        await ask_site.human_tasks.rows_of("UPDATE links SET ended_at = now() RETURNING uid")
        await answer(page, "no")
        await expect(page.get_by_role("heading", name="This link has ended")).to_be_visible()
        await expect(page.get_by_text("1 answer of yours is kept")).to_be_visible()
        await person.context.clear_cookies()
        await page.get_by_role("button", name="Try again").click()
        await expect(page.get_by_role("heading", name="You are not signed in")).to_be_visible()


async def test_page_explains_an_invalid_or_ended_link(ask_site: AskSite) -> None:
    await ask_site.add_task(HOURS[:1])
    ended = await ask_site.human_tasks.key()
    await ask_site.human_tasks.rows_of("UPDATE links SET ended_at = now() RETURNING uid")
    async with ask_site.open_browser(**PHONE) as person:
        page = await person.context.new_page()
        for key, text in (("half-of-it", "You are not signed in"), (ended, "This link has ended")):
            await page.goto(f"{PATH}?key={key}")
            await expect(page.get_by_role("heading", level=2)).to_have_text(text)


@pytest.mark.parametrize("ask_site", [AskRules(settle=timedelta(0))], indirect=True)
async def test_page_thanks_when_all_is_answered_and_shows_later_items(
    ask_site: AskSite,
) -> None:
    await ask_site.add_task(HOURS[:1])
    async with ask_site.open_browser() as person:
        page = await person.open()
        await answer(page, "yes")
        await ask_site.require_answers("yes")
        await ask_site.human_tasks.deliver()
        await page.get_by_role("button", name="Look now").click()
        await expect(page.get_by_role("heading", name="That was all")).to_be_visible()
        await ask_site.add_task(HOURS[1:2])
        await expect(locate_item(page)).to_contain_text("Sunday at 1:00")


async def test_page_fits_the_window_and_all_controls_have_names(ask_site: AskSite) -> None:
    long = {"text": "x" * 3000, "title": "t" * 300, "mark": [1500, 1510]}
    await ask_site.add_task([long], question="w" * 300, answers=["a" * 40, "b" * 40, "no"])
    async with ask_site.open_browser(**PHONE) as person:
        page = await person.open()
        await locate_item(page).wait_for()
        for width, height in ((390, 844), (320, 568), (195, 422), (844, 390), (1400, 900)):
            await page.set_viewport_size({"width": width, "height": height})
            assert await page.evaluate("document.documentElement.scrollWidth") <= width
        assert await count_unnamed_controls(page) == 0


@pytest.mark.parametrize(
    "words",
    [
        ["opens", "closes", "neither"],
        ["yes", "no", "cannot say"],
        ["indistinguishable", "no", "unclear"],
        ["uncertain", "Gottesdienst", "confession", "no"],
    ],
)
async def test_words_of_answers_are_not_broken(ask_site: AskSite, words: list[str]) -> None:
    await ask_site.add_task(HOURS[:1], answers=words, agree=2)
    for options in (PHONE, DESKTOP):
        async with ask_site.open_browser(**options) as person:
            page = await person.open()
            await locate_item(page).wait_for()
            for width in (390, 320, 1400):
                await page.set_viewport_size({"width": width, "height": 844})
                assert await page.evaluate("document.documentElement.scrollWidth") <= width
                assert await page.evaluate(_BROKEN) == [], width


#: Words of answers that are broken into two lines.
_BROKEN = """[...document.querySelectorAll('.answer span')].flatMap((span) => {
    const text = span.firstChild;
    return [...text.data.matchAll(/\\S+/g)].filter((word) => {
        const range = document.createRange();
        range.setStart(text, word.index);
        range.setEnd(text, word.index + word[0].length);
        return range.getClientRects().length > 1;
    }).map((word) => word[0]);
})"""


async def count_unnamed_controls(page: Page) -> int:
    return int(
        await page.evaluate(
            "[...document.querySelectorAll('a, button, input, [role=region]')].filter("
            "one => one.checkVisibility() &&"
            " !(one.textContent.trim() || one.ariaLabel || one.labels?.length)).length"
        )
    )
