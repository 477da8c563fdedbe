"""Gold items are read once for all tasks of a step, and shown like all others."""

from uuid import RFC_4122

from sluice.contracts.common.states import AskItemState
from sluice.contracts.human_tasks.annotation import AnnotatorAnswer, AnswerState
from tests.integration.ask.conftest import HumanTasks
from wfms.ask.usecases.exclude_careless_browsers import exclude_careless_browsers

GOLD_ITEMS = [{"text": f"Office {hour}:00", "answer": "no"} for hour in range(8)]
STEP = "/api/v1/asking/steps"


async def test_gold_item_with_an_unknown_answer_is_refused(human_tasks: HumanTasks) -> None:
    """Every annotator would be wrong about the item. The other items are shown all the same."""
    gold = [{"text": "Office 8:00", "answer": "no"}, {"text": "Choir 9:00", "answer": "perhaps"}]
    uid = human_tasks.task([b"Sunday 9:00"], gold=gold, agree=1)
    jobs, human_tasks.rows.jobs[uid] = human_tasks.rows.jobs[uid], []
    await human_tasks.import_items()
    browser = await human_tasks.browser()
    [step] = (await browser.http.get(STEP)).json()["steps"]
    assert "'gold.jsonl': line 2: 'answer' is 'perhaps': give one of 'yes', 'no'" in step["reason"]
    human_tasks.rows.jobs[uid] = jobs
    await human_tasks.import_items()
    assert (await browser.http.get(STEP)).json()["steps"] == [{**step, "items": {"open": 1}}]
    assert await human_tasks.rows_of("SELECT known_answer FROM items") == [(None,)]
    assert await browser.answer_all("yes") == 1


async def test_empty_file_of_gold_items_is_reported(human_tasks: HumanTasks) -> None:
    human_tasks.task([b"Sunday 9:00"], gold=b"\n")
    await human_tasks.import_items()
    browser = await human_tasks.browser()
    [step] = (await browser.http.get(STEP)).json()["steps"]
    assert step["reason"] == "no items with known answers are in 'gold.jsonl': add some"


async def test_gold_items_outlive_the_task_that_brought_them(human_tasks: HumanTasks) -> None:
    first = human_tasks.task([b"Sunday 9:00"] * 20, gold=GOLD_ITEMS, gold_every=2)
    await human_tasks.import_items()
    human_tasks.task([b"Monday 9:00"] * 20, gold=GOLD_ITEMS, gold_every=2)
    await human_tasks.import_items()
    count = "SELECT count(*), min(state), max(state) FROM items WHERE known_answer IS NOT NULL"
    now = (len(GOLD_ITEMS), AskItemState.OPEN, AskItemState.OPEN)
    assert await human_tasks.rows_of(count) == [now]
    del human_tasks.rows.tasks[first]
    await human_tasks.import_items()
    assert await human_tasks.rows_of(count) == [now]
    browser = await human_tasks.browser()
    page_items = await browser.next(count=20)
    assert not any((one.text or "").startswith("Sunday") for one in page_items.items)
    golden = sum((one.text or "").startswith("Office") for one in page_items.items)
    assert golden > 0
    answers = [AnnotatorAnswer(item=one.id, answer="no") for one in page_items.items]
    results = (await browser.next(*answers, count=0)).results
    assert [result.state for result in results] == [AnswerState.TAKEN] * len(answers)
    await exclude_careless_browsers(human_tasks.context)
    [listed] = (await browser.http.get(f"{STEP}/everyone/mass times/look/browsers")).json()[
        "browsers"
    ]
    assert listed["gold"] == [golden, golden]


async def test_ids_do_not_reveal_gold_items(human_tasks: HumanTasks) -> None:
    human_tasks.task([b"Sunday 9:00"] * 9, gold=GOLD_ITEMS, gold_every=2)
    await human_tasks.import_items()
    rows = await human_tasks.rows_of("SELECT uid, known_answer IS NOT NULL FROM items")
    assert {is_gold for _, is_gold in rows} == {True, False}
    assert {(uid.version, uid.variant) for uid, _ in rows} == {(4, RFC_4122)}
