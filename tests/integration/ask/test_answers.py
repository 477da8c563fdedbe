"""Each item is shown to as many annotators as needed, and its agreed answer is returned once."""

import asyncio
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import httpx

from sluice.contracts.common.states import AskItemState
from sluice.contracts.human_tasks.asking import AnnotatorAnswer, AnswerFate
from tests.integration.ask.conftest import Asking
from wfms.ask.usecases.end_assignments import end_old_assignments


def texts(number: int) -> list[bytes]:
    return [f"Sunday at {hour}:00".encode() for hour in range(number)]


async def test_answer_of_two_agreeing_annotators_is_returned(asking: Asking) -> None:
    asking.task(texts(2))
    await asking.take_in()
    first, second = await asking.browser(), await asking.browser()
    assert await first.answer_all("yes") == 2
    assert await asking.give() == []
    assert await second.answer_all("yes") == 2
    answers = await asking.give()
    assert [(file["answer"], file["agreed"], file["name"]) for file in answers] == [
        ("yes", 2, "0.txt"),
        ("yes", 2, "1.txt"),
    ]
    devices = {answer["device_uid"] for answer in answers[0]["answers"]}
    assert len(devices) == 2
    names = [job.output.name for job in asking.rows.answered]
    assert names == ["00000000.1-0.json", "00000001.1-1.json"]


async def test_third_annotator_is_asked_if_two_disagree(asking: Asking) -> None:
    asking.task(texts(1))
    await asking.take_in()
    for word, expected_count in (("yes", 0), ("no", 0), ("no", 1)):
        assert await (await asking.browser()).answer_all(word) == 1
        assert len(await asking.give()) == expected_count
    [file] = await asking.give()
    assert (file["answer"], file["agreed"]) == ("no", 2)
    assert [answer["answer"] for answer in file["answers"]] == ["yes", "no", "no"]
    late = await (await asking.browser()).next()
    assert (late.items, late.over) == ([], True)


async def test_item_is_shown_once_to_an_annotator_and_to_no_more_than_needed(
    asking: Asking,
) -> None:
    asking.task(texts(5))
    await asking.take_in()
    browsers = [await asking.browser() for _ in range(4)]
    shown = [await browser.next(count=5) for browser in browsers]
    assert [len(page_items.items) for page_items in shown] == [5, 5, 0, 0]
    assert [page_items.over for page_items in shown] == [False] * 4
    has = [item.id for item in shown[0].items]
    assert (await browsers[0].next(count=5, has=has)).items == []


async def test_items_lost_on_the_way_are_sent_again(asking: Asking) -> None:
    asking.task(texts(9), agree=1)
    await asking.take_in()
    browser = await asking.browser()
    first = await browser.next(count=8)
    first_item, *lost = first.items
    again = await browser.next(count=8, has=[first_item.id])
    assert [item.id for item in again.items] == [item.id for item in lost]
    assert await browser.answer_all("yes") == 9


async def test_concurrent_browsers_answer_each_item_twice(asking: Asking) -> None:
    asking.task(texts(40))
    await asking.take_in()
    browsers = [await asking.browser() for _ in range(8)]
    numbers = await asyncio.gather(*(browser.answer_all("no") for browser in browsers))
    while any(numbers):
        numbers = await asyncio.gather(*(browser.answer_all("no") for browser in browsers))
    answers = await asking.give()
    assert len(answers) == 40
    assert Counter(file["agreed"] for file in answers) == {2: 40}
    [(number,)] = await asking.rows_of("SELECT count(*) FROM shown WHERE answer IS NOT NULL")
    assert number == 80


async def test_answer_that_is_sent_twice_counts_once(asking: Asking) -> None:
    asking.task(texts(1))
    await asking.take_in()
    browser = await asking.browser()
    [item] = (await browser.next()).items
    answer = AnnotatorAnswer(item=item.id, answer="yes")
    fates = [(await browser.next(answer)).fates[0].fate for _ in range(2)]
    assert fates == [AnswerFate.TAKEN, AnswerFate.ALREADY]
    assert (await browser.next()).given == 1
    assert await asking.give() == []


async def test_answer_to_an_item_that_was_not_shown_does_not_count(asking: Asking) -> None:
    asking.task(texts(1), agree=1)
    await asking.take_in()
    first, second = await asking.browser(), await asking.browser()
    [item] = (await first.next()).items
    for other in (item.id, uuid4()):
        page_items = await second.next(AnnotatorAnswer(item=other, answer="yes"))
        assert page_items.fates[0].fate is AnswerFate.UNKNOWN
    assert await asking.give() == []


async def test_answer_after_the_decision_is_late(asking: Asking) -> None:
    asking.task(texts(1), agree=1)
    await asking.take_in()
    slow = await asking.browser()
    [item] = (await slow.next()).items
    old = replace(asking.context, rules=replace(asking.context.rules, lend=timedelta(0)))
    await asking.rows_of("UPDATE shown SET lent_until = now() RETURNING 1")
    await end_old_assignments(old)
    await (await asking.browser()).answer_all("yes")
    assert len(await asking.give()) == 1
    page_items = await slow.next(AnnotatorAnswer(item=item.id, answer="no"))
    assert page_items.fates[0].fate is AnswerFate.LATE


async def test_expired_assignment_goes_to_another_browser_and_its_answer_still_counts(
    asking: Asking,
) -> None:
    asking.task(texts(1))
    await asking.take_in()
    closed, other, third = [await asking.browser() for _ in range(3)]
    [item] = (await closed.next()).items
    await other.next()
    assert (await third.next()).items == []
    await asking.rows_of("UPDATE shown SET lent_until = now() RETURNING 1")
    await end_old_assignments(asking.context)
    assert len((await third.next()).items) == 1
    page_items = await closed.next(AnnotatorAnswer(item=item.id, answer="yes"))
    assert page_items.fates[0].fate is AnswerFate.TAKEN


async def test_answer_can_be_undone_for_a_while(asking: Asking) -> None:
    patient = replace(asking.context.rules, undo=timedelta(minutes=1), settle=timedelta(minutes=1))
    object.__setattr__(asking.context, "rules", patient)
    asking.task(texts(1), agree=1)
    await asking.take_in()
    browser = await asking.browser()
    [item] = (await browser.next()).items
    await browser.next(AnnotatorAnswer(item=item.id, answer="yes"))
    assert await asking.rows_of("SELECT state FROM items") == [(AskItemState.DECIDED,)]
    back = await browser.post("undo", {"item": str(item.id)})
    assert back.json()["text"] == "Sunday at 0:00"
    assert await asking.rows_of("SELECT state FROM items") == [(AskItemState.OPEN,)]
    again = await browser.post("undo", {"item": str(item.id)})
    assert again.status_code == httpx.codes.NOT_FOUND
    page_items = await browser.next(AnnotatorAnswer(item=item.id, answer="no"))
    assert page_items.given == 1
    object.__setattr__(asking.context, "rules", replace(patient, settle=timedelta(0)))
    assert [file["answer"] for file in await asking.give()] == ["no"]


async def test_returned_answer_cannot_be_undone(asking: Asking) -> None:
    asking.task(texts(1), agree=1)
    await asking.take_in()
    browser = await asking.browser()
    [item] = (await browser.next()).items
    await browser.next(AnnotatorAnswer(item=item.id, answer="yes"))
    await asking.give()
    back = await browser.post("undo", {"item": str(item.id)})
    assert back.status_code == httpx.codes.NOT_FOUND


async def test_answer_whose_receipt_was_lost_is_sent_again_with_the_same_file(
    asking: Asking,
) -> None:
    asking.task(texts(1), agree=1)
    await asking.take_in()
    await (await asking.browser()).answer_all("yes")
    asking.rows.lose_answer = True
    assert [file["answer"] for file in await asking.give()] == ["yes"]
    [job] = asking.rows.answered
    assert asking.rows.again == [job.id]
    assert await asking.rows_of("SELECT state FROM items") == [(AskItemState.GIVEN,)]


async def test_items_of_an_ended_task_are_withdrawn(asking: Asking) -> None:
    uid = asking.task(texts(2), agree=1)
    await asking.take_in()
    browser = await asking.browser()
    [item, *_] = (await browser.next()).items
    del asking.rows.tasks[uid]
    await asking.take_in()
    page_items = await browser.next(AnnotatorAnswer(item=item.id, answer="yes"))
    assert page_items.fates[0].fate is AnswerFate.LATE
    assert (page_items.items, page_items.over) == ([], True)
    assert await asking.give() == []


async def test_jobs_that_are_added_later_are_shown_too(asking: Asking) -> None:
    uid = asking.task(texts(3), agree=1)
    late = asking.rows.jobs[uid].pop()
    await asking.take_in()
    browser = await asking.browser()
    assert await browser.answer_all("yes") == 2
    asking.rows.jobs[uid].append(late)
    await asking.take_in()
    await asking.take_in()
    assert await browser.answer_all("yes") == 1
    assert len(await asking.give()) == 3


async def test_file_that_cannot_be_shown_is_refused_with_its_reason(asking: Asking) -> None:
    uid = asking.task([b"gone", b"\xff\xfe\x00bad", b"x" * 300_000, b"good"], agree=1)
    missing_job, *bad, good = asking.rows.jobs[uid]
    asking.file_of(missing_job.input.url).unlink()
    await asking.take_in()
    assert [
        open_places
        for (open_places,) in await asking.rows_of("SELECT open_places FROM items ORDER BY seq")
    ] == [
        *[0] * 3,
        1,
    ]
    asking.rows.lose_answer = True
    refused = list(await asking.refuse())
    assert [one.id for one in refused] == [missing_job.id, *(job.id for job in bad)] * 2
    assert "there is no such file" in refused[0].reason
    assert "not valid UTF-8" in refused[1].reason
    assert "at most 262144 are shown" in refused[2].reason
    assert await asking.refuse() == refused, "they are not refused again"
    states = await asking.rows_of("SELECT state FROM items ORDER BY seq")
    assert states == [(AskItemState.WITHDRAWN,)] * 3 + [(AskItemState.OPEN,)]
    browser = await asking.browser()
    assert await browser.answer_all("yes") == 1
    assert [one["name"] for one in await asking.give()] == [good.input.name]


async def test_unshowable_items_of_an_ended_task_are_withdrawn_without_a_refusal(
    asking: Asking,
) -> None:
    uid = asking.task([b"\xff\xfe\x00bad"], agree=1)
    await asking.take_in()
    del asking.rows.tasks[uid]
    assert await asking.refuse() == []
    await asking.take_in()
    assert await asking.rows_of("SELECT state FROM items") == [(AskItemState.WITHDRAWN,)]


async def test_unknown_answer_is_refused(asking: Asking) -> None:
    asking.task(texts(1))
    await asking.take_in()
    browser = await asking.browser()
    [item] = (await browser.next()).items
    answer = await browser.post("next", {"answers": [{"item": str(item.id), "answer": "maybe"}]})
    assert answer.status_code == httpx.codes.UNPROCESSABLE_ENTITY
    assert "'maybe' is not one of the answers: give one of 'yes', 'no'" in answer.json()["detail"]
