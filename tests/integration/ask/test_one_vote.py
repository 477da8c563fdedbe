"""A person has one vote on an item, with or without the cookie."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from sluice.contracts.common.states import AskItemState
from sluice.contracts.human_tasks.asking import AnnotatorAnswer
from tests.conftest import DatabaseFactory
from tests.integration.ask.conftest import GROUP, IMMEDIATE_RULES, STEP, TEMPLATE, Asking, asking_on
from wfms.ask.db.devices import AskingPlace
from wfms.ask.usecases.context import OneVote
from wfms.ask.usecases.end_assignments import end_old_assignments
from wfms.ask.usecases.make_link import read_links
from wfms.ask.usecases.read_progress import read_devices

SIX = [f"item {number}".encode() for number in range(6)]


async def decided(asking: Asking) -> int:
    [(number,)] = await asking.rows_of(
        "SELECT count(*) FROM items WHERE state <> $1", AskItemState.OPEN
    )
    return int(number)


async def test_person_who_deletes_the_cookie_cannot_decide_an_item_alone(asking: Asking) -> None:
    asking.task(SIX, agree=2)
    await asking.take_in()
    key = await asking.key()
    assert await (await asking.browser(key, agent="Firefox")).answer_all("yes") == 6
    assert await (await asking.browser(key, agent="Firefox")).answer_all("yes") == 0
    other_link = await asking.key()
    assert await (await asking.browser(other_link, agent="Firefox")).answer_all("yes") == 0
    assert await decided(asking) == 0
    assert await (await asking.browser(key, agent="Safari")).answer_all("yes") == 6
    assert await decided(asking) == 6


async def test_concurrent_browsers_of_one_person_get_different_items(asking: Asking) -> None:
    asking.task(SIX, agree=2)
    await asking.take_in()
    browsers = [await asking.browser(agent="Firefox") for _ in range(4)]
    pages = await asyncio.gather(*(browser.next(count=5) for browser in browsers))
    shown = [item.id for each in pages for item in each.items]
    assert len(shown) == len(set(shown)) == 6


async def test_account_has_one_vote_in_two_browsers(asking: Asking) -> None:
    asking.task(SIX, agree=2)
    await asking.take_in()
    first = await asking.browser(await asking.key(mine=True), agent="Firefox")
    second = await asking.browser(await asking.key(mine=True), agent="Safari")
    page_items = await first.next(count=4)
    assert await second.answer_all("yes") == 2
    answers = (AnnotatorAnswer(item=item.id, answer="yes", seconds=1) for item in page_items.items)
    await first.next(*answers, count=0)
    assert await second.answer_all("yes") == await first.answer_all("yes") == 0
    assert await decided(asking) == 0
    devices = await read_devices(asking.context, AskingPlace(TEMPLATE, STEP, GROUP))
    assert [device.alike for device in devices] == [1, 1]
    open_link = await asking.browser(agent="Opera")
    assert await open_link.answer_all("yes") == 6
    assert await decided(asking) == 6


async def test_late_answer_from_another_browser_of_an_account_is_no_second_vote(
    asking: Asking,
) -> None:
    asking.task(SIX[:1], agree=2)
    await asking.take_in()
    first = await asking.browser(await asking.key(mine=True), agent="Firefox")
    [item] = (await first.next()).items
    await asking.rows_of("UPDATE shown SET lent_until = now() RETURNING 1")
    await end_old_assignments(asking.context)
    second = await asking.browser(await asking.key(mine=True), agent="Safari")
    assert await second.answer_all("yes") == 1
    await first.next(AnnotatorAnswer(item=item.id, answer="yes", seconds=1))
    assert await asking.rows_of("SELECT agreed, open_places FROM items") == [(1, 1)]
    await (await asking.browser(await asking.key(mine=True, by="eve"))).answer_all("yes")
    assert await decided(asking) == 1


async def test_concurrent_browsers_of_one_account_get_different_items(
    asking: Asking,
) -> None:
    asking.task(SIX, agree=2)
    await asking.take_in()
    browsers = [await asking.browser(await asking.key(mine=True)) for _ in range(4)]
    pages = await asyncio.gather(*(browser.next(count=5) for browser in browsers))
    shown = [item.id for each in pages for item in each.items]
    assert len(shown) == len(set(shown)) == 6


async def test_two_accounts_with_equal_browsers_have_two_votes(asking: Asking) -> None:
    asking.task(SIX, agree=2)
    await asking.take_in()
    for person in ("ada", "eve"):
        key = await asking.key(mine=True, by=person)
        assert await (await asking.browser(key, agent="Firefox")).answer_all("yes") == 6
    assert await decided(asking) == 6


async def test_account_and_open_link_in_one_browser_have_one_vote(asking: Asking) -> None:
    asking.task(SIX, agree=2)
    await asking.take_in()
    key = await asking.key(mine=True)
    assert await (await asking.browser(key, agent="Firefox")).answer_all("yes") == 6
    assert await (await asking.browser(agent="Firefox")).answer_all("yes") == 0
    assert await decided(asking) == 0


async def test_similar_browsers_are_counted(asking: Asking) -> None:
    asking.task(SIX)
    await asking.take_in()
    for agent in ("Firefox", "Firefox", "Safari"):
        await asking.browser(agent=agent)
    devices = await read_devices(asking.context, AskingPlace(TEMPLATE, STEP, GROUP))
    assert sorted((device.browser, device.alike) for device in devices) == [
        ("Firefox", 1),
        ("Firefox", 1),
        ("Safari", 0),
    ]


async def test_each_link_shows_its_browsers_votes_and_annotations(asking: Asking) -> None:
    asking.task(SIX, agree=3)
    await asking.take_in()
    await asking.key()
    key = await asking.key()
    for agent in ("Firefox", "Firefox", "Safari"):
        await (await asking.browser(key, agent=agent)).answer_all("yes")
    place = AskingPlace(TEMPLATE, STEP, GROUP)
    latest, earlier = await read_links(asking.context, place)
    assert (latest.browsers, latest.votes, latest.answers) == (3, 2, 12)
    assert (earlier.browsers, earlier.votes, earlier.answers) == (0, 0, 0)
    devices = await read_devices(asking.context, place)
    assert {device.link_uid for device in devices} == {latest.uid}


@pytest.mark.parametrize(("one_vote", "second"), [(OneVote.ADDRESS, 0), (OneVote.OFF, 6)])
async def test_setting_chooses_how_persons_are_recognized(
    make_database: DatabaseFactory, tmp_path: Path, one_vote: OneVote, second: int
) -> None:
    rules = replace(IMMEDIATE_RULES, one_vote=one_vote)
    async with asking_on(await make_database("wfms.ask.db.migrations"), tmp_path, rules) as asking:
        asking.task(SIX, agree=2)
        await asking.take_in()
        assert await (await asking.browser(agent="Firefox")).answer_all("yes") == 6
        agent = "Firefox" if one_vote is OneVote.OFF else "another"
        assert await (await asking.browser(agent=agent)).answer_all("yes") == second


async def test_origin_may_vote_again_after_the_time_window(
    make_database: DatabaseFactory, tmp_path: Path
) -> None:
    rules = replace(IMMEDIATE_RULES, one_vote_window=timedelta(hours=1))
    async with asking_on(await make_database("wfms.ask.db.migrations"), tmp_path, rules) as asking:
        asking.task(SIX, agree=2)
        await asking.take_in()
        first = await asking.browser(agent="Firefox")
        page_items = await first.next(count=5)
        await first.next(
            *(AnnotatorAnswer(item=i.id, answer="no", seconds=1) for i in page_items.items)
        )
        await asking.rows_of(
            "UPDATE shown SET answered_at = now() - interval '2 hours'"
            " WHERE answer IS NOT NULL RETURNING 1"
        )
        again = await (await asking.browser(agent="Firefox")).next(count=5)
        assert {item.id for item in again.items} >= {item.id for item in page_items.items[:3]}
