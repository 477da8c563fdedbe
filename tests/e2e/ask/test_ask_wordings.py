"""A page that is open while another version of the question is asked."""

import json

import pytest
from playwright.async_api import expect

from tests.e2e.ask.conftest import AskSite, answer, item_of

pytestmark = [pytest.mark.xdist_group("e2e-ask"), pytest.mark.asyncio(loop_scope="package")]

HOURS = [{"text": f"Sunday at {hour}:00"} for hour in range(6)]


async def test_another_version_of_the_question_is_asked_by_its_own_words(
    ask_site: AskSite,
) -> None:
    await ask_site.lay(HOURS[:2], answers=["yes", "no"])
    await ask_site.lay(HOURS[2:4], answers=["good", "bad"], question="Is it good?")
    async with ask_site.person() as person:
        page = await person.open()
        await answer(page, "yes", "no")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Is it good?")
        await expect(item_of(page)).to_contain_text("Sunday at 2:00")
        await expect(page.get_by_role("button", name="yes", exact=True)).to_have_count(0)
        await answer(page, "good", "bad")
        await ask_site.has("yes", "no", "good", "bad")


async def test_an_answer_that_waits_here_outlives_another_question(ask_site: AskSite) -> None:
    """Given without a connection, it is taken as it was asked for when another one is asked."""
    old = ask_site.asking.task([], agree=1, answers=["yes", "no"])
    await ask_site.asking.take_in()
    await ask_site.lay(HOURS[:1], answers=["good", "bad"], question="Is it good?")
    async with ask_site.person() as person:
        page = await person.open()
        await expect(item_of(page)).to_contain_text("Sunday at 0:00")
        await person.context.set_offline(True)
        await answer(page, "good")
        ask_site.asking.add(old, json.dumps(HOURS[5]).encode())
        await ask_site.asking.take_in()
        await person.context.set_offline(False)
        await expect(page.get_by_role("heading", level=1)).to_have_text("Is it a mass?")
        await answer(page, "no")
        await ask_site.has("good", "no")
