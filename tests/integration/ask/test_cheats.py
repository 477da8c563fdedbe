"""Annotators who answer without looking are excluded, and honest ones are not."""

import json
from random import Random
from typing import Any
from uuid import UUID

import httpx

from sluice.contracts.common.states import BrowserState
from sluice.contracts.human_tasks.annotation import AnnotatorAnswer, AnswerState
from tests.integration.ask.conftest import Browser, HumanTasks
from wfms.ask.domain.trust import AnswerReference
from wfms.ask.usecases.exclude_careless_browsers import exclude_careless_browsers


def make_item(number: int, right: str) -> bytes:
    return json.dumps({"text": f"number {number}", "right": right}).encode()


def make_gold_items(number: int) -> list[dict[str, str]]:
    right_answers = ["yes" if n % 3 == 0 else "no" for n in range(number)]
    return [
        {"text": f"known {n}", "right": right, "answer": right}
        for n, right in enumerate(right_answers)
    ]


async def get_right_answers(human_tasks: HumanTasks) -> dict[UUID, str]:
    rows = await human_tasks.rows_of("SELECT uid, content -> 'item' ->> 'right' FROM items")
    return {uid: right for uid, right in rows}


async def give_answers(
    human_tasks: HumanTasks, browser: Browser, *, error: float, draw: Random, most: int
) -> None:
    """Give correct answers with the error rate ``error``."""
    right, number, answers = await get_right_answers(human_tasks), 0, list[AnnotatorAnswer]()
    while number < most:
        page_items = await browser.next(*answers, count=5)
        if not page_items.items:
            return
        number += len(page_items.items)
        answers = []
        for shown in page_items.items:
            word = right[shown.id]
            if draw.random() < error:
                word = {"yes": "no", "no": "yes"}[word]
            answers.append(AnnotatorAnswer(item=shown.id, answer=word, seconds=2.5))
    await browser.next(*answers, count=0)


async def list_states(human_tasks: HumanTasks) -> list[BrowserState]:
    while await exclude_careless_browsers(human_tasks.context):
        pass
    rows = await human_tasks.rows_of("SELECT state FROM browsers ORDER BY first_at")
    return [BrowserState(row) for (row,) in rows]


async def test_cheating_browser_is_excluded_and_its_annotations_are_revoked(
    human_tasks: HumanTasks,
) -> None:
    human_tasks.task(
        [make_item(n, "yes" if n % 3 == 0 else "no") for n in range(60)],
        gold=make_gold_items(30),
        gold_every=3,
    )
    await human_tasks.import_items()
    cheat, *honest = [await human_tasks.browser() for _ in range(3)]
    assert await cheat.answer_all("yes", most=60) >= 60
    for number, browser in enumerate(honest):
        await give_answers(human_tasks, browser, error=0.05, draw=Random(number), most=200)
    assert await list_states(human_tasks) == [BrowserState.EXCLUDED, *[BrowserState.COUNTED] * 2]
    for number, browser in enumerate(honest):
        await give_answers(human_tasks, browser, error=0.0, draw=Random(number), most=200)
    [(counted,)] = await human_tasks.rows_of(
        "SELECT count(*) FROM assignments JOIN browsers ON uid = browser_uid"
        " WHERE counted AND state = $1",
        BrowserState.EXCLUDED,
    )
    assert counted == 0
    answers = await human_tasks.deliver()
    right = sum(file["answer"] == file["item"]["right"] for file in answers)
    assert len(answers) > 40
    assert right >= 0.95 * len(answers)


async def test_gold_items_may_arrive_after_the_task(human_tasks: HumanTasks) -> None:
    """The WMS knows the shared files of a task only when it has made the jobs."""
    task = human_tasks.task([b"Sunday 9:00"], gold=[{"text": "Office 8:00", "answer": "no"}])
    whole = human_tasks.rows.tasks[task]
    human_tasks.rows.tasks[task] = whole.model_copy(update={"files": []})
    await human_tasks.import_items()
    human_tasks.rows.tasks[task] = whole
    await human_tasks.import_items()
    rows = await human_tasks.rows_of("SELECT known_answer FROM items ORDER BY known_answer")
    assert [answer for (answer,) in rows] == ["no", None]


async def test_excluded_browser_gets_no_new_items_and_no_notice(human_tasks: HumanTasks) -> None:
    human_tasks.task(
        [make_item(n, "no") for n in range(30)], gold=make_gold_items(12), gold_every=2
    )
    await human_tasks.import_items()
    cheat = await human_tasks.browser()
    await cheat.answer_all("yes", most=40)
    assert await list_states(human_tasks) == [BrowserState.EXCLUDED]
    before = await human_tasks.rows_of("SELECT uid, open_places, state FROM items ORDER BY uid")
    page_items = await cheat.next(count=5)
    assert not page_items.over
    answers = [AnnotatorAnswer(item=one.id, answer="yes") for one in page_items.items]
    assert [result.state for result in (await cheat.next(*answers)).results] == ["taken"] * len(
        answers
    )
    assert (
        await human_tasks.rows_of("SELECT uid, open_places, state FROM items ORDER BY uid")
        == before
    )


async def test_decision_of_a_person_about_a_browser_is_final(human_tasks: HumanTasks) -> None:
    human_tasks.task(
        [make_item(n, "no") for n in range(30)], gold=make_gold_items(12), gold_every=2, agree=1
    )
    await human_tasks.import_items()
    cheat = await human_tasks.browser()
    await cheat.answer_all("yes", most=40)
    assert await list_states(human_tasks) == [BrowserState.EXCLUDED]
    [(uid,)] = await human_tasks.rows_of("SELECT uid FROM browsers")
    address = f"/api/v1/asking/browsers/{uid}/state"
    decision = {"state": BrowserState.COUNTED, "reason": "a child, but it looks"}
    answer = await cheat.http.put(address, json=decision)
    assert answer.json()["state"] == BrowserState.COUNTED
    assert (await cheat.http.put(address, json=decision)).status_code == httpx.codes.CONFLICT
    await cheat.answer_all("yes", most=40)
    assert await list_states(human_tasks) == [BrowserState.COUNTED]
    assert {file["answer"] for file in await human_tasks.deliver()} == {"yes"}
    [browser] = await list_browsers(human_tasks)
    assert browser["score"] > browser["limit"]
    assert browser["set_by"] == "somebody"
    assert browser["gold"][0] < browser["gold"][1]


async def list_browsers(human_tasks: HumanTasks) -> list[dict[str, Any]]:
    """Return what observers see of the browsers, in the order of their arrival."""
    address = "/api/v1/asking/steps/everyone/mass times/look/browsers"
    browsers = (await human_tasks.browsers[0].http.get(address)).json()["browsers"]
    return sorted(browsers, key=lambda browser: str(browser["first_at"]))


async def test_cheating_browser_is_found_by_disagreement_alone(human_tasks: HumanTasks) -> None:
    """There are no gold items."""
    human_tasks.task([make_item(n, "yes" if n % 3 == 0 else "no") for n in range(30)])
    await human_tasks.import_items()
    cheat, *honest = [await human_tasks.browser() for _ in range(3)]
    assert await cheat.answer_all("yes") == 30
    for browser in honest:
        await give_answers(human_tasks, browser, error=0.0, draw=Random(0), most=60)
    assert await list_states(human_tasks) == [BrowserState.EXCLUDED, *[BrowserState.COUNTED] * 2]
    first, *others = await list_browsers(human_tasks)
    assert first["gold"] == [0, 0]
    assert first["peers"] == [10, 30]
    assert first["score"] > first["limit"]
    assert all(other["peers"][0] == other["peers"][1] for other in others)
    await give_answers(human_tasks, honest[1], error=0.0, draw=Random(0), most=60)
    answers = await human_tasks.deliver()
    assert len(answers) == 30
    assert all(file["answer"] == file["item"]["right"] for file in answers)


async def test_each_annotation_is_scored_once(human_tasks: HumanTasks) -> None:
    human_tasks.task(
        [make_item(n, "yes" if n % 2 else "no") for n in range(20)],
        gold=make_gold_items(12),
        gold_every=2,
    )
    await human_tasks.import_items()
    browsers = [await human_tasks.browser() for _ in range(2)]
    for number, browser in enumerate(browsers):
        await give_answers(human_tasks, browser, error=0.1, draw=Random(number), most=60)
    sql = "SELECT uid, evidence, score FROM browsers ORDER BY uid"
    await list_states(human_tasks)
    once = await human_tasks.rows_of(sql)
    assert [sorted(evidence) for _, evidence, _ in once] == [sorted(AnswerReference)] * 2
    for _ in range(3):
        await list_states(human_tasks)
    assert await human_tasks.rows_of(sql) == once


async def test_annotations_of_an_excluded_browser_are_no_evidence_against_others(
    human_tasks: HumanTasks,
) -> None:
    """This covers annotations before the exclusion, and of items that the browser had then."""
    human_tasks.task([make_item(n, "no") for n in range(3)])
    await human_tasks.import_items()
    cheat, *honest = [await human_tasks.browser() for _ in range(3)]
    before, *has = (await cheat.next()).items
    await cheat.next(AnnotatorAnswer(item=before.id, answer="yes"), count=0)
    [(uid,)] = await human_tasks.rows_of("SELECT uid FROM browsers WHERE answer_count > 0")
    decision = {"state": BrowserState.EXCLUDED, "reason": "it is a program"}
    done = await cheat.http.put(f"/api/v1/asking/browsers/{uid}/state", json=decision)
    assert done.status_code == httpx.codes.OK, done.text
    after = [AnnotatorAnswer(item=one.id, answer="yes") for one in has]
    assert [result.state for result in (await cheat.next(*after)).results] == [
        AnswerState.TAKEN
    ] * 2
    for browser in honest:
        assert await browser.answer_all("no") == 3
    await list_states(human_tasks)
    assert [browser["peers"] for browser in await list_browsers(human_tasks)] == [
        [0, 0],
        [3, 3],
        [3, 3],
    ]
