"""Each item is shown to as many annotators as needed, and its agreed answer is returned once."""

import asyncio
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import httpx

from sluice.contracts.common.states import AskItemState
from sluice.contracts.human_tasks.annotation import AnnotatorAnswer, AnswerState
from tests.integration.ask.conftest import HumanTasks
from wfms.ask.usecases.end_assignments import end_assignments


def make_texts(number: int) -> list[bytes]:
    return [f"Sunday at {hour}:00".encode() for hour in range(number)]


async def test_answer_of_two_agreeing_annotators_is_returned(human_tasks: HumanTasks) -> None:
    human_tasks.task(make_texts(2))
    await human_tasks.import_items()
    first, second = await human_tasks.browser(), await human_tasks.browser()
    assert await first.answer_all("yes") == 2
    assert await human_tasks.deliver() == []
    assert await second.answer_all("yes") == 2
    answers = await human_tasks.deliver()
    assert [(file["answer"], file["agreed"], file["name"]) for file in answers] == [
        ("yes", 2, "0.txt"),
        ("yes", 2, "1.txt"),
    ]
    browsers = {answer["browser_uid"] for answer in answers[0]["answers"]}
    assert len(browsers) == 2
    names = [job.output.name for job in human_tasks.rows.answered]
    assert names == ["00000000.1-0.json", "00000001.1-1.json"]


async def test_third_annotator_is_asked_if_two_disagree(human_tasks: HumanTasks) -> None:
    human_tasks.task(make_texts(1))
    await human_tasks.import_items()
    for word, expected_count in (("yes", 0), ("no", 0), ("no", 1)):
        assert await (await human_tasks.browser()).answer_all(word) == 1
        assert len(await human_tasks.deliver()) == expected_count
    [file] = await human_tasks.deliver()
    assert (file["answer"], file["agreed"]) == ("no", 2)
    assert [answer["answer"] for answer in file["answers"]] == ["yes", "no", "no"]
    late = await (await human_tasks.browser()).next()
    assert (late.items, late.over) == ([], True)


async def test_item_is_shown_once_to_an_annotator_and_to_no_more_than_needed(
    human_tasks: HumanTasks,
) -> None:
    human_tasks.task(make_texts(5))
    await human_tasks.import_items()
    browsers = [await human_tasks.browser() for _ in range(4)]
    shown = [await browser.next(count=5) for browser in browsers]
    assert [len(page_items.items) for page_items in shown] == [5, 5, 0, 0]
    assert [page_items.over for page_items in shown] == [False] * 4
    has = [item.id for item in shown[0].items]
    assert (await browsers[0].next(count=5, has=has)).items == []


async def test_items_lost_on_the_way_are_sent_again(human_tasks: HumanTasks) -> None:
    human_tasks.task(make_texts(9), agree=1)
    await human_tasks.import_items()
    browser = await human_tasks.browser()
    first = await browser.next(count=8)
    first_item, *lost = first.items
    again = await browser.next(count=8, has=[first_item.id])
    assert [item.id for item in again.items] == [item.id for item in lost]
    assert await browser.answer_all("yes") == 9


async def test_concurrent_browsers_answer_each_item_twice(human_tasks: HumanTasks) -> None:
    human_tasks.task(make_texts(40))
    await human_tasks.import_items()
    browsers = [await human_tasks.browser() for _ in range(8)]
    numbers = await asyncio.gather(*(browser.answer_all("no") for browser in browsers))
    while any(numbers):
        numbers = await asyncio.gather(*(browser.answer_all("no") for browser in browsers))
    answers = await human_tasks.deliver()
    assert len(answers) == 40
    assert Counter(file["agreed"] for file in answers) == {2: 40}
    [(number,)] = await human_tasks.rows_of(
        "SELECT count(*) FROM assignments WHERE answer IS NOT NULL"
    )
    assert number == 80


async def test_answer_that_is_sent_twice_counts_once(human_tasks: HumanTasks) -> None:
    human_tasks.task(make_texts(1))
    await human_tasks.import_items()
    browser = await human_tasks.browser()
    [item] = (await browser.next()).items
    answer = AnnotatorAnswer(item=item.id, answer="yes")
    answer_states = [(await browser.next(answer)).results[0].state for _ in range(2)]
    assert answer_states == [AnswerState.TAKEN, AnswerState.ALREADY]
    assert (await browser.next()).answer_count == 1
    assert await human_tasks.deliver() == []


async def test_answer_to_an_item_that_was_not_shown_does_not_count(human_tasks: HumanTasks) -> None:
    human_tasks.task(make_texts(1), agree=1)
    await human_tasks.import_items()
    first, second = await human_tasks.browser(), await human_tasks.browser()
    [item] = (await first.next()).items
    for other in (item.id, uuid4()):
        page_items = await second.next(AnnotatorAnswer(item=other, answer="yes"))
        assert page_items.results[0].state is AnswerState.UNKNOWN
    assert await human_tasks.deliver() == []


async def test_answer_after_the_decision_is_late(human_tasks: HumanTasks) -> None:
    human_tasks.task(make_texts(1), agree=1)
    await human_tasks.import_items()
    slow = await human_tasks.browser()
    [item] = (await slow.next()).items
    old = replace(
        human_tasks.context,
        rules=replace(human_tasks.context.rules, assignment_duration=timedelta(0)),
    )
    await human_tasks.rows_of("UPDATE assignments SET assigned_until = now() RETURNING 1")
    await end_assignments(old)
    await (await human_tasks.browser()).answer_all("yes")
    assert len(await human_tasks.deliver()) == 1
    page_items = await slow.next(AnnotatorAnswer(item=item.id, answer="no"))
    assert page_items.results[0].state is AnswerState.LATE


async def test_expired_assignment_goes_to_another_browser_and_its_answer_still_counts(
    human_tasks: HumanTasks,
) -> None:
    human_tasks.task(make_texts(1))
    await human_tasks.import_items()
    closed, other, third = [await human_tasks.browser() for _ in range(3)]
    [item] = (await closed.next()).items
    await other.next()
    assert (await third.next()).items == []
    await human_tasks.rows_of("UPDATE assignments SET assigned_until = now() RETURNING 1")
    await end_assignments(human_tasks.context)
    assert len((await third.next()).items) == 1
    page_items = await closed.next(AnnotatorAnswer(item=item.id, answer="yes"))
    assert page_items.results[0].state is AnswerState.TAKEN


async def test_answer_can_be_undone_for_a_while(human_tasks: HumanTasks) -> None:
    patient = replace(
        human_tasks.context.rules, undo=timedelta(minutes=1), settle=timedelta(minutes=1)
    )
    object.__setattr__(human_tasks.context, "rules", patient)
    human_tasks.task(make_texts(1), agree=1)
    await human_tasks.import_items()
    browser = await human_tasks.browser()
    [item] = (await browser.next()).items
    await browser.next(AnnotatorAnswer(item=item.id, answer="yes"))
    assert await human_tasks.rows_of("SELECT state FROM items") == [(AskItemState.DECIDED,)]
    back = await browser.post("undo", {"item": str(item.id)})
    assert back.json()["text"] == "Sunday at 0:00"
    assert await human_tasks.rows_of("SELECT state FROM items") == [(AskItemState.OPEN,)]
    again = await browser.post("undo", {"item": str(item.id)})
    assert again.status_code == httpx.codes.NOT_FOUND
    page_items = await browser.next(AnnotatorAnswer(item=item.id, answer="no"))
    assert page_items.answer_count == 1
    object.__setattr__(human_tasks.context, "rules", replace(patient, settle=timedelta(0)))
    assert [file["answer"] for file in await human_tasks.deliver()] == ["no"]


async def test_returned_answer_cannot_be_undone(human_tasks: HumanTasks) -> None:
    human_tasks.task(make_texts(1), agree=1)
    await human_tasks.import_items()
    browser = await human_tasks.browser()
    [item] = (await browser.next()).items
    await browser.next(AnnotatorAnswer(item=item.id, answer="yes"))
    await human_tasks.deliver()
    back = await browser.post("undo", {"item": str(item.id)})
    assert back.status_code == httpx.codes.NOT_FOUND


async def test_answer_whose_receipt_was_lost_is_sent_again_with_the_same_file(
    human_tasks: HumanTasks,
) -> None:
    human_tasks.task(make_texts(1), agree=1)
    await human_tasks.import_items()
    await (await human_tasks.browser()).answer_all("yes")
    human_tasks.rows.lose_answer = True
    assert [file["answer"] for file in await human_tasks.deliver()] == ["yes"]
    [job] = human_tasks.rows.answered
    assert human_tasks.rows.again == [job.id]
    assert await human_tasks.rows_of("SELECT state FROM items") == [(AskItemState.DELIVERED,)]


async def test_items_of_an_ended_task_are_withdrawn(human_tasks: HumanTasks) -> None:
    uid = human_tasks.task(make_texts(2), agree=1)
    await human_tasks.import_items()
    browser = await human_tasks.browser()
    [item, *_] = (await browser.next()).items
    del human_tasks.rows.tasks[uid]
    await human_tasks.import_items()
    page_items = await browser.next(AnnotatorAnswer(item=item.id, answer="yes"))
    assert page_items.results[0].state is AnswerState.LATE
    assert (page_items.items, page_items.over) == ([], True)
    assert await human_tasks.deliver() == []


async def test_jobs_that_are_added_later_are_shown_too(human_tasks: HumanTasks) -> None:
    uid = human_tasks.task(make_texts(3), agree=1)
    late = human_tasks.rows.jobs[uid].pop()
    await human_tasks.import_items()
    browser = await human_tasks.browser()
    assert await browser.answer_all("yes") == 2
    human_tasks.rows.jobs[uid].append(late)
    await human_tasks.import_items()
    await human_tasks.import_items()
    assert await browser.answer_all("yes") == 1
    assert len(await human_tasks.deliver()) == 3


async def test_file_that_cannot_be_shown_is_refused_with_its_reason(
    human_tasks: HumanTasks,
) -> None:
    uid = human_tasks.task([b"gone", b"\xff\xfe\x00bad", b"x" * 300_000, b"good"], agree=1)
    missing_job, *bad, good = human_tasks.rows.jobs[uid]
    human_tasks.file_of(missing_job.input.url).unlink()
    await human_tasks.import_items()
    assert [
        open_places
        for (open_places,) in await human_tasks.rows_of(
            "SELECT open_places FROM items ORDER BY seq"
        )
    ] == [
        *[0] * 3,
        1,
    ]
    human_tasks.rows.lose_answer = True
    refused = list(await human_tasks.refuse())
    assert [one.id for one in refused] == [missing_job.id, *(job.id for job in bad)]
    assert human_tasks.rows.again == [one.id for one in refused], "the response was lost"
    assert "there is no such file" in refused[0].reason
    assert "not valid UTF-8" in refused[1].reason
    assert "at most 262144 are shown" in refused[2].reason
    assert await human_tasks.refuse() == refused, "they are not refused again"
    states = await human_tasks.rows_of("SELECT state FROM items ORDER BY seq")
    assert states == [(AskItemState.WITHDRAWN,)] * 3 + [(AskItemState.OPEN,)]
    browser = await human_tasks.browser()
    assert await browser.answer_all("yes") == 1
    assert [one["name"] for one in await human_tasks.deliver()] == [good.input.name]


async def test_unshowable_items_of_an_ended_task_are_withdrawn_without_a_refusal(
    human_tasks: HumanTasks,
) -> None:
    uid = human_tasks.task([b"\xff\xfe\x00bad"], agree=1)
    await human_tasks.import_items()
    del human_tasks.rows.tasks[uid]
    assert await human_tasks.refuse() == []
    await human_tasks.import_items()
    assert await human_tasks.rows_of("SELECT state FROM items") == [(AskItemState.WITHDRAWN,)]


async def test_unknown_answer_is_refused(human_tasks: HumanTasks) -> None:
    human_tasks.task(make_texts(1))
    await human_tasks.import_items()
    browser = await human_tasks.browser()
    [item] = (await browser.next()).items
    answer = await browser.post("next", {"answers": [{"item": str(item.id), "answer": "maybe"}]})
    assert answer.status_code == httpx.codes.UNPROCESSABLE_ENTITY
    assert "'maybe' is not one of the answers: give one of 'yes', 'no'" in answer.json()["detail"]
