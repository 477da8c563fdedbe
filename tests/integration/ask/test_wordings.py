"""Tasks of one step with different questions: each item has the question of its own task."""

from typing import Any

import httpx
import pytest

from sluice.contracts.human_tasks.annotation import (
    AnnotatorAnswer,
    AnswerState,
    AskPage,
    NextItems,
)
from tests.integration.ask.conftest import Browser, HumanTasks

OLD: dict[str, Any] = {"agree": 1, "answers": ["yes", "no"]}
NEW: dict[str, Any] = {"agree": 1, "answers": ["good", "bad"], "question": "Is it good?"}


async def fetch_page(browser: Browser) -> AskPage:
    return AskPage.model_validate((await browser.http.get(f"{browser.path}/about")).json())


def list_texts(page_items: NextItems) -> list[str | None]:
    return [item.text for item in page_items.items]


def make_answers(page_items: NextItems, word: str) -> list[AnnotatorAnswer]:
    return [AnnotatorAnswer(item=item.id, answer=word, seconds=2) for item in page_items.items]


@pytest.fixture
async def both(human_tasks: HumanTasks) -> HumanTasks:
    """Return a service with an older task of two items, and a newer one with another question."""
    human_tasks.task([b"old 1", b"old 2"], **OLD)
    await human_tasks.import_items()
    human_tasks.task([b"new"], **NEW)
    await human_tasks.import_items()
    return human_tasks


async def test_older_task_is_shown_first_and_each_item_with_its_own_question(
    both: HumanTasks,
) -> None:
    browser = await both.browser()
    first = await fetch_page(browser)
    assert (first.question, first.answers) == ("Is it a mass?", ["yes", "no"])
    page_items = await browser.next(count=5)
    assert list_texts(page_items) == ["old 1", "old 2"]
    assert page_items.wording == first.wording
    after = await browser.next(*make_answers(page_items, "yes"), count=5)
    assert (list_texts(after), after.over) == ([], False)
    then = await browser.next(count=5)
    assert list_texts(then) == ["new"]
    second = await fetch_page(browser)
    assert (second.question, second.answers) == ("Is it good?", ["good", "bad"])
    assert then.wording == second.wording != first.wording
    assert (await browser.next(*make_answers(then, "good"))).results[0].state is AnswerState.TAKEN
    assert sorted(one["answer"] for one in await both.deliver()) == ["good", "yes", "yes"]


async def test_answer_of_another_question_is_refused(both: HumanTasks) -> None:
    browser = await both.browser()
    page_items = await browser.next(count=5)
    body = {"answers": [one.model_dump(mode="json") for one in make_answers(page_items, "good")]}
    refused = await browser.post("next", body)
    assert refused.status_code == httpx.codes.UNPROCESSABLE_ENTITY
    assert refused.json()["detail"] == "'good' is not one of the answers: give one of 'yes', 'no'"
    assert await both.rows_of("SELECT 1 FROM assignments WHERE answer IS NOT NULL") == []


async def test_assignments_with_another_question_are_kept_and_shown_with_it(
    human_tasks: HumanTasks,
) -> None:
    """A task goes on after a newer one was shown: its late item is again older than the others."""
    old = human_tasks.task([], **OLD)
    await human_tasks.import_items()
    human_tasks.task([b"new"], **NEW)
    await human_tasks.import_items()
    browser = await human_tasks.browser()
    new = await browser.next(count=5)
    assert list_texts(new) == ["new"]
    human_tasks.add(old, b"late")
    await human_tasks.import_items()
    page_items = await browser.next(count=5)
    assert list_texts(page_items) == ["late"]
    assert (await fetch_page(browser)).wording == page_items.wording != new.wording
    late = await browser.next(*make_answers(page_items, "no"), *make_answers(new, "bad"))
    assert {one.state for one in late.results} == {AnswerState.TAKEN}
    assert sorted(one["answer"] for one in await human_tasks.deliver()) == ["bad", "no"]


async def test_answer_to_another_question_cannot_be_undone(human_tasks: HumanTasks) -> None:
    old = human_tasks.task([], **OLD)
    await human_tasks.import_items()
    human_tasks.task([b"new", b"more"], **NEW)
    await human_tasks.import_items()
    browser = await human_tasks.browser()
    new = await browser.next(count=5)
    await browser.next(make_answers(new, "bad")[0])
    human_tasks.add(old, b"late")
    await human_tasks.import_items()
    back = {"item": str(new.items[0].id)}
    assert (await browser.post("undo", back)).status_code == httpx.codes.NOT_FOUND
    assert (
        await human_tasks.rows_of("SELECT answer FROM assignments WHERE answer IS NOT NULL")
    ) == [("bad",)]


async def test_gold_items_belong_to_the_question_that_is_shown(human_tasks: HumanTasks) -> None:
    gold_item = {"text": "known old", "answer": "yes"}
    human_tasks.task([b"old"], gold=[gold_item], gold_every=2, **OLD)
    await human_tasks.import_items()
    good = {"text": "known new", "answer": "good"}
    human_tasks.task([b"new"], gold=[good], gold_every=2, **NEW)
    await human_tasks.import_items()
    for _ in range(3):
        browser = await human_tasks.browser()
        assert set(list_texts(await browser.next(count=20))) <= {"old", "known old"}
