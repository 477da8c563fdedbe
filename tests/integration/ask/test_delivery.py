"""A decided item waits for a while, in which its answers may be undone, and is then final."""

import json
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import httpx
import pytest

from sluice.contracts.common.problems import NotAvailable
from sluice.contracts.common.states import AskItemState
from sluice.contracts.human_tasks.annotation import AnnotatorAnswer, AnswerState
from tests.integration.ask.conftest import Browser, HumanTasks
from wfms.ask.usecases.deliver_answers import deliver_answers
from wfms.ask.usecases.end_assignments import end_assignments

ANSWERS = "/api/v1/asking/steps/everyone/mass times/look/answers"


def be_patient(human_tasks: HumanTasks) -> None:
    """Let decided items wait for a minute, in which answers may be undone."""
    minute = timedelta(minutes=1)
    rules = replace(human_tasks.context.rules, undo=minute, settle=minute)
    object.__setattr__(human_tasks.context, "rules", rules)


async def read_states(human_tasks: HumanTasks) -> list[AskItemState]:
    return [AskItemState(row) for (row,) in await human_tasks.rows_of("SELECT state FROM items")]


async def answer_item(human_tasks: HumanTasks, browser: Browser) -> dict[str, str]:
    """Answer an item, and return the request that undoes the answer."""
    [item] = (await browser.next()).items
    await browser.next(AnnotatorAnswer(item=item.id, answer="yes"), count=0)
    assert await read_states(human_tasks) == [AskItemState.DECIDED]
    return {"item": str(item.id)}


async def test_answer_cannot_be_undone_after_the_time_limit(human_tasks: HumanTasks) -> None:
    be_patient(human_tasks)
    human_tasks.task([b"Sunday 9:00"], agree=1)
    await human_tasks.import_items()
    browser = await human_tasks.browser()
    back = await answer_item(human_tasks, browser)
    age = "UPDATE assignments SET answered_at = answered_at - $1::interval RETURNING 1"
    await human_tasks.rows_of(age, timedelta(seconds=30))
    assert (await browser.post("undo", back)).is_success
    await browser.next(AnnotatorAnswer(item=UUID(back["item"]), answer="yes"), count=0)
    await human_tasks.rows_of(age, timedelta(seconds=61))
    refused = await browser.post("undo", back)
    assert refused.status_code == httpx.codes.NOT_FOUND
    assert refused.json()["detail"] == "this answer cannot be taken back any more"
    assert await read_states(human_tasks) == [AskItemState.DECIDED]
    assert (await browser.next()).answer_count == 1


async def test_answer_cannot_be_undone_if_the_step_forbids_it(human_tasks: HumanTasks) -> None:
    be_patient(human_tasks)
    human_tasks.task([b"Sunday 9:00"], agree=1, undo=False)
    await human_tasks.import_items()
    browser = await human_tasks.browser()
    back = await answer_item(human_tasks, browser)
    assert (await browser.post("undo", back)).status_code == httpx.codes.NOT_FOUND
    assert await read_states(human_tasks) == [AskItemState.DECIDED]
    assert (await browser.next()).answer_count == 1


async def test_decided_item_waits_before_it_is_returned(human_tasks: HumanTasks) -> None:
    be_patient(human_tasks)
    human_tasks.task([b"Sunday 9:00"], agree=1)
    await human_tasks.import_items()
    await answer_item(human_tasks, await human_tasks.browser())
    age = "UPDATE items SET decided_at = decided_at - $1::interval RETURNING 1"
    for waited in (0, 30):
        await human_tasks.rows_of(age, timedelta(seconds=waited))
        assert await human_tasks.deliver() == []
        assert await read_states(human_tasks) == [AskItemState.DECIDED]
    await human_tasks.rows_of(age, timedelta(seconds=31))
    assert [file["answer"] for file in await human_tasks.deliver()] == ["yes"]
    assert await read_states(human_tasks) == [AskItemState.DELIVERED]


async def test_returned_item_is_marked_although_its_task_has_ended(
    human_tasks: HumanTasks,
) -> None:
    """The last answers end the task, and the instance that sent them dies before it stores that."""
    uid = human_tasks.task([b"x"], agree=1)
    await human_tasks.import_items()
    await (await human_tasks.browser()).answer_all("yes")
    await deliver_answers(human_tasks.context)
    back = "UPDATE items SET state = $1, ended_at = NULL RETURNING 1"
    await human_tasks.rows_of(back, AskItemState.DELIVERING)
    [job] = human_tasks.rows.answered
    human_tasks.file_of(job.output.url).unlink()  # The data set is deleted.
    human_tasks.rows.ended.add(uid)
    await human_tasks.import_items()
    assert await human_tasks.rows_of("SELECT state FROM items") == [(AskItemState.DELIVERING,)]
    await deliver_answers(human_tasks.context)
    assert await human_tasks.rows_of("SELECT state FROM items") == [(AskItemState.DELIVERED,)]
    assert human_tasks.rows.again == [job.id]
    assert not human_tasks.file_of(job.output.url).exists()


@pytest.mark.parametrize("forgotten", [False, True])
async def test_unsent_answer_of_an_ended_task_is_withdrawn(
    human_tasks: HumanTasks, *, forgotten: bool
) -> None:
    uid = human_tasks.task([b"x"], agree=1)
    await human_tasks.import_items()
    await (await human_tasks.browser()).answer_all("yes")
    human_tasks.rows.find_nothing = True
    with pytest.raises(NotAvailable):
        await deliver_answers(human_tasks.context)
    human_tasks.rows.ended.add(uid)
    human_tasks.rows.stale.update(job.id for job in human_tasks.rows.jobs[uid])
    if forgotten:
        del human_tasks.rows.tasks[uid]
    await human_tasks.import_items()
    await deliver_answers(human_tasks.context)
    assert await human_tasks.rows_of("SELECT state FROM items") == [(AskItemState.WITHDRAWN,)]


async def test_item_whose_job_no_longer_waits_is_withdrawn(human_tasks: HumanTasks) -> None:
    uid = human_tasks.task([b"Sunday 9:00", b"Monday 8:00"], agree=1)
    await human_tasks.import_items()
    browser = await human_tasks.browser()
    await browser.answer_all("yes")
    stale, _ = human_tasks.rows.jobs[uid]
    human_tasks.rows.stale.add(stale.id)
    assert [file["name"] for file in await human_tasks.deliver()] == ["1.txt"]
    rows = await human_tasks.rows_of("SELECT job_id = $1, state FROM items ORDER BY seq", stale.id)
    assert rows == [(True, AskItemState.WITHDRAWN), (False, AskItemState.DELIVERED)]
    [step] = (await browser.http.get("/api/v1/asking/steps")).json()["steps"]
    assert step["items"] == {AskItemState.WITHDRAWN: 1, AskItemState.DELIVERED: 1}
    human_tasks.rows.stale.clear()
    assert len(await human_tasks.deliver()) == 1, "the answer is not sent later either"


async def test_answer_to_an_item_that_is_being_returned_is_late(human_tasks: HumanTasks) -> None:
    """The answer file, which is written again, has the same content."""
    human_tasks.task([b"Sunday 9:00"], agree=1)
    await human_tasks.import_items()
    slow = await human_tasks.browser()
    [item] = (await slow.next()).items
    await human_tasks.rows_of("UPDATE assignments SET assigned_until = now() RETURNING 1")
    await end_assignments(human_tasks.context)
    quick = await human_tasks.browser()
    assert await quick.answer_all("yes") == 1
    human_tasks.rows.find_nothing = True
    with suppress(NotAvailable):
        await deliver_answers(human_tasks.context)
    assert await read_states(human_tasks) == [AskItemState.DELIVERING]
    page_items = await slow.next(AnnotatorAnswer(item=item.id, answer="no"))
    assert [result.state for result in page_items.results] == [AnswerState.LATE]
    assert page_items.answer_count == 0
    [file] = await human_tasks.deliver()
    assert (file["answer"], file["agreed"]) == ("yes", 1)
    assert [answer["answer"] for answer in file["answers"]] == ["yes"]
    lines = (await slow.http.get(ANSWERS)).text.splitlines()
    assert [json.loads(line)["answer"] for line in lines] == ["yes"]
