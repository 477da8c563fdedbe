"""Where several groups have jobs for the same nodes, each gets its share of them."""

from collections import Counter

import pytest

from sluice.contracts.groups import SetShare
from sluice.contracts.owners import EVERYONE, visibility
from tests.integration.wms.stage import Stage, make_task
from tests.integration.wms.test_query_plans import plan, scans
from wms.db.shares import IN_USE
from wms.usecases.group_shares import list_shares, set_group_share


async def given_to(stage: Stage, jobs: int, *, at_once: int = 1) -> Counter[str]:
    """To whose tasks so many jobs go, each to a pilot of its own."""
    found: Counter[str] = Counter()
    for _ in range(jobs // at_once):
        pilot = await stage.add_pilot()
        for job in await stage.lease(pilot, at_once):
            found[stage.tasks[job.task_uid].group] += 1
    return found


async def test_one_group_s_many_jobs_do_not_keep_the_other_waiting(stage: Stage) -> None:
    await stage.add_task(make_task(group="large"), jobs=100)
    await stage.add_task(make_task(group="small"), jobs=100)
    assert await given_to(stage, 20) == {"large": 10, "small": 10}


@pytest.mark.parametrize("at_once", [1, 2])
async def test_shares_follow_the_weights(stage: Stage, at_once: int) -> None:
    for group in ("ocr", "spd"):
        await stage.add_task(make_task(group=group), jobs=100)
    await set_group_share(stage.context, "spd", SetShare(weight=3))
    found = await given_to(stage, 40, at_once=at_once)
    assert found["spd"] == pytest.approx(30, abs=1)


async def test_whoever_is_alone_has_all(stage: Stage) -> None:
    await set_group_share(stage.context, "ocr", SetShare(weight=1000))
    await stage.add_task(make_task(group="spd"), jobs=10)
    assert await given_to(stage, 10) == {"spd": 10}


async def test_without_groups_ranks_and_age_decide(stage: Stage) -> None:
    first = await stage.add_task(make_task(), jobs=3)
    await stage.add_task(make_task(), jobs=3)
    pilot = await stage.add_pilot()
    assert {job.task_uid for job in await stage.lease(pilot, 3)} == {first.uid}


async def test_shares_are_shown_to_who_is_in_the_group(stage: Stage) -> None:
    await stage.add_task(make_task(group="ocr"), jobs=3)
    await stage.add_task(make_task(), jobs=2)
    await set_group_share(stage.context, "spd", SetShare(weight=2.5))
    await given_to(stage, 2)
    shares = (await list_shares(stage.context)).shares
    assert [(each.group, each.weight, each.running) for each in shares] == [
        (EVERYONE, 1.0, 1),
        ("ocr", 1.0, 1),
        ("spd", 2.5, 0),
    ]
    seen = (await list_shares(stage.context, visibility(["spd"]))).shares
    assert [each.group for each in seen] == [EVERYONE, "spd"]


async def test_what_is_in_use_is_found_by_live_tasks(stage: Stage) -> None:
    await stage.add_task(make_task(), jobs=2)
    await stage.execute("SET enable_seqscan = off")
    assert "jobs" not in scans(await plan(stage, IN_USE))
