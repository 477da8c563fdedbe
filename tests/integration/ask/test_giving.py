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
from sluice.contracts.human_tasks.asking import AnnotatorAnswer, AnswerFate
from tests.integration.ask.conftest import Asking, Browser
from wfms.ask.usecases.deliver_answers import deliver_answers
from wfms.ask.usecases.end_assignments import end_assignments

ANSWERS = "/api/v1/asking/steps/everyone/mass times/look/answers"


def be_patient(asking: Asking) -> None:
    """Let decided items wait for a minute, in which answers may be undone."""
    minute = timedelta(minutes=1)
    rules = replace(asking.context.rules, undo=minute, settle=minute)
    object.__setattr__(asking.context, "rules", rules)


async def states(asking: Asking) -> list[AskItemState]:
    return [AskItemState(row) for (row,) in await asking.rows_of("SELECT state FROM items")]


async def answered(asking: Asking, browser: Browser) -> dict[str, str]:
    """Answer an item, and return the request that undoes the answer."""
    [item] = (await browser.next()).items
    await browser.next(AnnotatorAnswer(item=item.id, answer="yes"), count=0)
    assert await states(asking) == [AskItemState.DECIDED]
    return {"item": str(item.id)}


async def test_answer_cannot_be_undone_after_the_time_limit(asking: Asking) -> None:
    be_patient(asking)
    asking.task([b"Sunday 9:00"], agree=1)
    await asking.take_in()
    browser = await asking.browser()
    back = await answered(asking, browser)
    age = "UPDATE shown SET answered_at = answered_at - $1::interval RETURNING 1"
    await asking.rows_of(age, timedelta(seconds=30))
    assert (await browser.post("undo", back)).is_success
    await browser.next(AnnotatorAnswer(item=UUID(back["item"]), answer="yes"), count=0)
    await asking.rows_of(age, timedelta(seconds=61))
    refused = await browser.post("undo", back)
    assert refused.status_code == httpx.codes.NOT_FOUND
    assert refused.json()["detail"] == "this answer cannot be taken back any more"
    assert await states(asking) == [AskItemState.DECIDED]
    assert (await browser.next()).given == 1


async def test_answer_cannot_be_undone_if_the_step_forbids_it(asking: Asking) -> None:
    be_patient(asking)
    asking.task([b"Sunday 9:00"], agree=1, undo=False)
    await asking.take_in()
    browser = await asking.browser()
    back = await answered(asking, browser)
    assert (await browser.post("undo", back)).status_code == httpx.codes.NOT_FOUND
    assert await states(asking) == [AskItemState.DECIDED]
    assert (await browser.next()).given == 1


async def test_decided_item_waits_before_it_is_returned(asking: Asking) -> None:
    be_patient(asking)
    asking.task([b"Sunday 9:00"], agree=1)
    await asking.take_in()
    await answered(asking, await asking.browser())
    age = "UPDATE items SET decided_at = decided_at - $1::interval RETURNING 1"
    for waited in (0, 30):
        await asking.rows_of(age, timedelta(seconds=waited))
        assert await asking.give() == []
        assert await states(asking) == [AskItemState.DECIDED]
    await asking.rows_of(age, timedelta(seconds=31))
    assert [file["answer"] for file in await asking.give()] == ["yes"]
    assert await states(asking) == [AskItemState.GIVEN]


async def test_returned_item_is_marked_although_its_task_has_ended(
    asking: Asking,
) -> None:
    """The last answers end the task, and the instance that sent them dies before it stores that."""
    uid = asking.task([b"x"], agree=1)
    await asking.take_in()
    await (await asking.browser()).answer_all("yes")
    await deliver_answers(asking.context)
    back = "UPDATE items SET state = $1, ended_at = NULL RETURNING 1"
    await asking.rows_of(back, AskItemState.GIVING)
    [job] = asking.rows.answered
    asking.file_of(job.output.url).unlink()  # The data set is deleted.
    asking.rows.ended.add(uid)
    await asking.take_in()
    assert await asking.rows_of("SELECT state FROM items") == [(AskItemState.GIVING,)]
    await deliver_answers(asking.context)
    assert await asking.rows_of("SELECT state FROM items") == [(AskItemState.GIVEN,)]
    assert asking.rows.again == [job.id]
    assert not asking.file_of(job.output.url).exists()


@pytest.mark.parametrize("forgotten", [False, True])
async def test_unsent_answer_of_an_ended_task_is_withdrawn(
    asking: Asking, *, forgotten: bool
) -> None:
    uid = asking.task([b"x"], agree=1)
    await asking.take_in()
    await (await asking.browser()).answer_all("yes")
    asking.rows.find_nothing = True
    with pytest.raises(NotAvailable):
        await deliver_answers(asking.context)
    asking.rows.ended.add(uid)
    asking.rows.stale.update(job.id for job in asking.rows.jobs[uid])
    if forgotten:
        del asking.rows.tasks[uid]
    await asking.take_in()
    await deliver_answers(asking.context)
    assert await asking.rows_of("SELECT state FROM items") == [(AskItemState.WITHDRAWN,)]


async def test_item_whose_job_no_longer_waits_is_withdrawn(asking: Asking) -> None:
    uid = asking.task([b"Sunday 9:00", b"Monday 8:00"], agree=1)
    await asking.take_in()
    browser = await asking.browser()
    await browser.answer_all("yes")
    stale, _ = asking.rows.jobs[uid]
    asking.rows.stale.add(stale.id)
    assert [file["name"] for file in await asking.give()] == ["1.txt"]
    rows = await asking.rows_of("SELECT job_id = $1, state FROM items ORDER BY seq", stale.id)
    assert rows == [(True, AskItemState.WITHDRAWN), (False, AskItemState.GIVEN)]
    [step] = (await browser.http.get("/api/v1/asking/steps")).json()["steps"]
    assert step["items"] == {AskItemState.WITHDRAWN: 1, AskItemState.GIVEN: 1}
    asking.rows.stale.clear()
    assert len(await asking.give()) == 1, "the answer is not sent later either"


async def test_answer_to_an_item_that_is_being_returned_is_late(asking: Asking) -> None:
    """The answer file, which is written again, has the same content."""
    asking.task([b"Sunday 9:00"], agree=1)
    await asking.take_in()
    slow = await asking.browser()
    [item] = (await slow.next()).items
    await asking.rows_of("UPDATE shown SET assigned_until = now() RETURNING 1")
    await end_assignments(asking.context)
    quick = await asking.browser()
    assert await quick.answer_all("yes") == 1
    asking.rows.find_nothing = True
    with suppress(NotAvailable):
        await deliver_answers(asking.context)
    assert await states(asking) == [AskItemState.GIVING]
    page_items = await slow.next(AnnotatorAnswer(item=item.id, answer="no"))
    assert [fate.fate for fate in page_items.fates] == [AnswerFate.LATE]
    assert page_items.given == 0
    [file] = await asking.give()
    assert (file["answer"], file["agreed"]) == ("yes", 1)
    assert [answer["answer"] for answer in file["answers"]] == ["yes"]
    lines = (await slow.http.get(ANSWERS)).text.splitlines()
    assert [json.loads(line)["answer"] for line in lines] == ["yes"]
