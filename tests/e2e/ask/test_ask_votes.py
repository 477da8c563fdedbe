"""Votes of browsers on an item, in Chromium."""

import pytest
from playwright.async_api import expect

from sluice.contracts.common.states import AskItemState
from tests.e2e.ask.conftest import AskSite, answer

pytestmark = [pytest.mark.xdist_group("e2e-ask"), pytest.mark.asyncio(loop_scope="package")]

#: The text for a browser without items while others have some.
NOTHING = "Nothing for you right now"


async def read_votes(site: AskSite) -> int:
    """Return how many equal votes the item has. It is open as long as it has one vote."""
    [(votes, state)] = await site.human_tasks.rows_of("SELECT agreed, state FROM items")
    assert (state == AskItemState.OPEN) == (votes < 2)
    return int(votes)


async def test_account_in_two_browsers_has_one_vote(ask_site: AskSite) -> None:
    await ask_site.add_task([{"text": "Sunday 9:00"}], agree=2)
    async with (
        ask_site.open_browser() as one,
        ask_site.open_browser() as other,
        ask_site.open_browser() as eve,
    ):
        await answer(await one.open(await ask_site.human_tasks.key(mine=True)), "yes")
        await ask_site.require_answers("yes")
        page = await other.open(await ask_site.human_tasks.key(mine=True))
        await expect(page.get_by_text(NOTHING)).to_be_visible()
        assert await read_votes(ask_site) == 1
        await answer(await eve.open(await ask_site.human_tasks.key(mine=True, by="eve")), "yes")
        await ask_site.require_answers("yes", "yes")
        assert await read_votes(ask_site) == 2


async def test_two_people_with_open_links_have_two_votes(
    ask_site: AskSite,
) -> None:
    await ask_site.add_task([{"text": "Sunday 9:00"}], agree=2)
    async with ask_site.open_browser() as one, ask_site.open_browser() as other:
        key = await ask_site.human_tasks.key()
        await answer(await one.open(key), "yes")
        await ask_site.require_answers("yes")
        await one.context.clear_cookies()
        page = await one.open(key)
        await expect(page.get_by_text(NOTHING)).to_be_visible()
        assert await read_votes(ask_site) == 1
        await answer(await other.open(), "yes")
        await ask_site.require_answers("yes", "yes")
        assert await read_votes(ask_site) == 2
