"""Ranks are boosted as long as requested, and never against a person's choice."""

import asyncio
from dataclasses import replace
from uuid import uuid4

import pytest

from sluice.contracts.jobs.tasks import Boost, Boosts, Task
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from wms.settings import WmsSettings
from wms.usecases.leasing.explain_task import explain_task
from wms.usecases.tasks.boost_tasks import boost_tasks
from wms.usecases.tasks.cancel_task import cancel_task
from wms.usecases.tasks.prioritise_task import prioritise_task
from wms.usecases.tasks.update_ranks import update_ranks
from wms.wiring import _read_rank_weights


def make_boosts(*tasks: Task, by: float = 10.0, reason: str = "storage a is full") -> Boosts:
    return Boosts(by=by, boosts=[Boost(task_uid=task.uid, reason=reason) for task in tasks])


async def get_rank(wms: WmsFixture, task: Task) -> float:
    """Return the rank without the gain by waiting during the test."""
    return round((await wms.status(task)).rank, 2)


async def test_boosted_rank_rises_is_explained_and_falls_back(
    wms: WmsFixture, other_wms: WmsFixture
) -> None:
    task, other = (
        await wms.add_task(make_task(rank=2), jobs=1),
        await wms.add_task(make_task(rank=5), jobs=1),
    )
    answers = await asyncio.gather(
        *(boost_tasks(at.context, make_boosts(task)) for at in (wms, other_wms) for _ in range(3))
    )
    assert sum(answer.raised for answer in answers) == 1, "not exactly one request raised the rank"
    assert (await get_rank(wms, task), await get_rank(wms, other)) == (12, 5)
    assert (await explain_task(wms.context, task.uid)).text.endswith(
        "; its rank is raised by 10, because storage a is full."
    )
    assert "raised" not in (await explain_task(wms.context, other.uid)).text
    await wms.execute("UPDATE tasks SET ranked_at = now() - interval '1 hour'")
    await update_ranks(wms.context, period=30.0)
    assert await get_rank(wms, task) == 12, "the boost faded like a gain by waiting"
    pilot = await wms.add_pilot()
    assert [job.task_uid for job in await wms.lease(pilot)] == [task.uid]
    assert (await boost_tasks(wms.context, make_boosts(other, by=4.0))).model_dump() == {
        "raised": 1,
        "lowered": 1,
    }
    assert (await get_rank(wms, task), await get_rank(wms, other)) == (2, 9)
    assert (await boost_tasks(wms.context, make_boosts())).lowered == 1
    assert (
        await get_rank(wms, other),
        "raised" in (await explain_task(wms.context, other.uid)).text,
    ) == (5, False)


async def test_weights_of_the_rank_formula_are_settings(
    wms: WmsFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLUICE_WMS_RANK_ALPHA", "2")
    monkeypatch.setenv("SLUICE_WMS_RANK_GAMMA", "0")
    weights = _read_rank_weights(
        WmsSettings(database_url="postgresql://none", broker_url="postgresql://none")
    )
    task = await wms.add_task(make_task(rank=5), jobs=1)
    await wms.execute(
        "UPDATE tasks SET rank = 9, ranked_at = now() - interval '10 minutes',"
        " created_at = now() - interval '10 minutes'"
    )
    await update_ranks(replace(wms.context, rank_weights=weights), period=30.0)
    assert round(await get_rank(wms, task)) == 5 + 2 * 10, "the earlier gain was kept"


async def test_rank_set_by_a_person_is_not_boosted(wms: WmsFixture) -> None:
    before, after = (
        await wms.add_task(make_task(), jobs=1),
        await wms.add_task(make_task(), jobs=1),
    )
    await prioritise_task(wms.context, before.uid, 3)
    assert (await boost_tasks(wms.context, make_boosts(before, after))).raised == 1
    await prioritise_task(wms.context, after.uid, 4)
    for request in (make_boosts(before, after), make_boosts()):
        assert (await boost_tasks(wms.context, request)).model_dump() == {
            "raised": 0,
            "lowered": 0,
        }
        assert (await get_rank(wms, before), await get_rank(wms, after)) == (3, 4)
    assert "raised" not in (await explain_task(wms.context, after.uid)).text


async def test_boosts_of_ended_or_unknown_tasks_are_ignored(wms: WmsFixture) -> None:
    ended, boosted = (
        await wms.add_task(make_task(), jobs=1),
        await wms.add_task(make_task(), jobs=1),
    )
    await cancel_task(wms.context, ended.uid)
    request = make_boosts(ended, boosted)
    unknown = request.model_copy(
        update={"boosts": [*request.boosts, Boost(task_uid=uuid4(), reason="it is not here yet")]}
    )
    assert (await boost_tasks(wms.context, unknown)).raised == 1
    await cancel_task(wms.context, boosted.uid)
    assert (await explain_task(wms.context, boosted.uid)).text == "Canceled: canceled by request."
