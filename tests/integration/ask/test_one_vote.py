"""A person has one vote on an item, with or without the cookie."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from sluice.contracts.common.states import AskItemState
from sluice.contracts.human_tasks.annotation import AnnotatorAnswer
from tests.conftest import DatabaseFactory
from tests.integration.ask.conftest import (
    GROUP,
    IMMEDIATE_RULES,
    STEP,
    TEMPLATE,
    HumanTasks,
    run_human_tasks,
)
from wfms.ask.db.links import HumanStepPlace
from wfms.ask.usecases.context import AnnotatorIdentification
from wfms.ask.usecases.end_assignments import end_assignments
from wfms.ask.usecases.list_browsers import list_browsers
from wfms.ask.usecases.list_links import list_links

SIX = [f"item {number}".encode() for number in range(6)]


async def count_decided_items(human_tasks: HumanTasks) -> int:
    [(number,)] = await human_tasks.rows_of(
        "SELECT count(*) FROM items WHERE state <> $1", AskItemState.OPEN
    )
    return int(number)


async def test_person_who_deletes_the_cookie_cannot_decide_an_item_alone(
    human_tasks: HumanTasks,
) -> None:
    human_tasks.task(SIX, agree=2)
    await human_tasks.import_items()
    key = await human_tasks.key()
    assert await (await human_tasks.browser(key, agent="Firefox")).answer_all("yes") == 6
    assert await (await human_tasks.browser(key, agent="Firefox")).answer_all("yes") == 0
    other_link = await human_tasks.key()
    assert await (await human_tasks.browser(other_link, agent="Firefox")).answer_all("yes") == 0
    assert await count_decided_items(human_tasks) == 0
    assert await (await human_tasks.browser(key, agent="Safari")).answer_all("yes") == 6
    assert await count_decided_items(human_tasks) == 6


async def test_concurrent_browsers_of_one_person_get_different_items(
    human_tasks: HumanTasks,
) -> None:
    human_tasks.task(SIX, agree=2)
    await human_tasks.import_items()
    browsers = [await human_tasks.browser(agent="Firefox") for _ in range(4)]
    pages = await asyncio.gather(*(browser.next(count=5) for browser in browsers))
    shown = [item.id for each in pages for item in each.items]
    assert len(shown) == len(set(shown)) == 6


async def test_account_has_one_vote_in_two_browsers(human_tasks: HumanTasks) -> None:
    human_tasks.task(SIX, agree=2)
    await human_tasks.import_items()
    first = await human_tasks.browser(await human_tasks.key(mine=True), agent="Firefox")
    second = await human_tasks.browser(await human_tasks.key(mine=True), agent="Safari")
    page_items = await first.next(count=4)
    assert await second.answer_all("yes") == 2
    answers = (AnnotatorAnswer(item=item.id, answer="yes", seconds=1) for item in page_items.items)
    await first.next(*answers, count=0)
    assert await second.answer_all("yes") == await first.answer_all("yes") == 0
    assert await count_decided_items(human_tasks) == 0
    browsers = await list_browsers(human_tasks.context, HumanStepPlace(TEMPLATE, STEP, GROUP))
    assert [browser.same_vote_browsers for browser in browsers] == [1, 1]
    open_link = await human_tasks.browser(agent="Opera")
    assert await open_link.answer_all("yes") == 6
    assert await count_decided_items(human_tasks) == 6


async def test_late_answer_from_another_browser_of_an_account_is_no_second_vote(
    human_tasks: HumanTasks,
) -> None:
    human_tasks.task(SIX[:1], agree=2)
    await human_tasks.import_items()
    first = await human_tasks.browser(await human_tasks.key(mine=True), agent="Firefox")
    [item] = (await first.next()).items
    await human_tasks.rows_of("UPDATE assignments SET assigned_until = now() RETURNING 1")
    await end_assignments(human_tasks.context)
    second = await human_tasks.browser(await human_tasks.key(mine=True), agent="Safari")
    assert await second.answer_all("yes") == 1
    await first.next(AnnotatorAnswer(item=item.id, answer="yes", seconds=1))
    assert await human_tasks.rows_of("SELECT agreed, open_places FROM items") == [(1, 1)]
    await (await human_tasks.browser(await human_tasks.key(mine=True, by="eve"))).answer_all("yes")
    assert await count_decided_items(human_tasks) == 1


async def test_concurrent_browsers_of_one_account_get_different_items(
    human_tasks: HumanTasks,
) -> None:
    human_tasks.task(SIX, agree=2)
    await human_tasks.import_items()
    browsers = [await human_tasks.browser(await human_tasks.key(mine=True)) for _ in range(4)]
    pages = await asyncio.gather(*(browser.next(count=5) for browser in browsers))
    shown = [item.id for each in pages for item in each.items]
    assert len(shown) == len(set(shown)) == 6


async def test_two_accounts_with_equal_browsers_have_two_votes(human_tasks: HumanTasks) -> None:
    human_tasks.task(SIX, agree=2)
    await human_tasks.import_items()
    for person in ("ada", "eve"):
        key = await human_tasks.key(mine=True, by=person)
        assert await (await human_tasks.browser(key, agent="Firefox")).answer_all("yes") == 6
    assert await count_decided_items(human_tasks) == 6


async def test_account_and_open_link_in_one_browser_have_one_vote(human_tasks: HumanTasks) -> None:
    human_tasks.task(SIX, agree=2)
    await human_tasks.import_items()
    key = await human_tasks.key(mine=True)
    assert await (await human_tasks.browser(key, agent="Firefox")).answer_all("yes") == 6
    assert await (await human_tasks.browser(agent="Firefox")).answer_all("yes") == 0
    assert await count_decided_items(human_tasks) == 0


async def test_similar_browsers_are_counted(human_tasks: HumanTasks) -> None:
    human_tasks.task(SIX)
    await human_tasks.import_items()
    for agent in ("Firefox", "Firefox", "Safari"):
        await human_tasks.browser(agent=agent)
    browsers = await list_browsers(human_tasks.context, HumanStepPlace(TEMPLATE, STEP, GROUP))
    assert sorted((browser.user_agent, browser.same_vote_browsers) for browser in browsers) == [
        ("Firefox", 1),
        ("Firefox", 1),
        ("Safari", 0),
    ]


async def test_each_link_shows_its_browsers_votes_and_annotations(human_tasks: HumanTasks) -> None:
    human_tasks.task(SIX, agree=3)
    await human_tasks.import_items()
    await human_tasks.key()
    key = await human_tasks.key()
    for agent in ("Firefox", "Firefox", "Safari"):
        await (await human_tasks.browser(key, agent=agent)).answer_all("yes")
    place = HumanStepPlace(TEMPLATE, STEP, GROUP)
    latest, earlier = await list_links(human_tasks.context, place)
    assert (latest.browsers, latest.votes, latest.answers) == (3, 2, 12)
    assert (earlier.browsers, earlier.votes, earlier.answers) == (0, 0, 0)
    browsers = await list_browsers(human_tasks.context, place)
    assert {browser.link_uid for browser in browsers} == {latest.uid}


@pytest.mark.parametrize(
    ("one_vote", "second"), [(AnnotatorIdentification.ADDRESS, 0), (AnnotatorIdentification.OFF, 6)]
)
async def test_setting_chooses_how_persons_are_recognized(
    make_database: DatabaseFactory, tmp_path: Path, one_vote: AnnotatorIdentification, second: int
) -> None:
    rules = replace(IMMEDIATE_RULES, one_vote=one_vote)
    async with run_human_tasks(
        await make_database("wfms.ask.db.migrations"), tmp_path, rules
    ) as human_tasks:
        human_tasks.task(SIX, agree=2)
        await human_tasks.import_items()
        assert await (await human_tasks.browser(agent="Firefox")).answer_all("yes") == 6
        agent = "Firefox" if one_vote is AnnotatorIdentification.OFF else "another"
        assert await (await human_tasks.browser(agent=agent)).answer_all("yes") == second


async def test_origin_may_annotate_an_item_again_after_the_time_window(
    make_database: DatabaseFactory, tmp_path: Path
) -> None:
    rules = replace(IMMEDIATE_RULES, one_vote_window=timedelta(hours=1))
    async with run_human_tasks(
        await make_database("wfms.ask.db.migrations"), tmp_path, rules
    ) as human_tasks:
        human_tasks.task(SIX, agree=2)
        await human_tasks.import_items()
        first = await human_tasks.browser(agent="Firefox")
        page_items = await first.next(count=5)
        await first.next(
            *(AnnotatorAnswer(item=i.id, answer="no", seconds=1) for i in page_items.items)
        )
        await human_tasks.rows_of(
            "UPDATE assignments SET answered_at = now() - interval '2 hours'"
            " WHERE answer IS NOT NULL RETURNING 1"
        )
        again = await (await human_tasks.browser(agent="Firefox")).next(count=5)
        assert {item.id for item in again.items} >= {item.id for item in page_items.items[:3]}
