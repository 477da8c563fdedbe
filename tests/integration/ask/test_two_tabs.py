"""Concurrent requests of one browser."""

import asyncio

from tests.integration.ask.conftest import HumanTasks
from tests.waiting import eventually
from wfms.ask.db.browsers import find_browser, lock_browser
from wfms.ask.usecases.tokens import digest_token

GOLD_ITEMS = [{"text": f"Office {hour}:00", "answer": "no"} for hour in range(8)]


async def test_concurrent_requests_of_a_browser_get_the_same_items(human_tasks: HumanTasks) -> None:
    human_tasks.task([b"Sunday 9:00"] * 40, gold=GOLD_ITEMS, gold_every=2)
    await human_tasks.import_items()
    browser = await human_tasks.browser()
    answers = await asyncio.gather(*(browser.next(count=5) for _ in range(8)))
    first = {item.id for item in answers[0].items}
    assert len(first) == 5
    assert all({item.id for item in answer.items} == first for answer in answers)
    assert await human_tasks.rows_of("SELECT count(*) FROM assignments") == [(5,)]


async def test_concurrent_requests_of_a_browser_wait_for_each_other(
    human_tasks: HumanTasks,
) -> None:
    human_tasks.task([b"Sunday 9:00"])
    await human_tasks.import_items()
    browser = await human_tasks.browser()
    [token] = browser.http.cookies.values()

    async def waits() -> bool:
        return await human_tasks.rows_of(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        ) == [(1,)]

    async with human_tasks.context.database.transaction() as transaction:
        known_browser = await find_browser(transaction.connection, digest_token(token))
        assert known_browser is not None
        await lock_browser(transaction.connection, known_browser)
        other = asyncio.create_task(browser.next())
        await eventually(waits, what="the second request waits for the lock")
    assert len((await other).items) == 1
