"""Groups with jobs for the same nodes get their fair shares."""

from collections import Counter

import pytest

from sluice.contracts.access.groups import SetShare
from sluice.contracts.access.owners import EVERYONE, visibility
from tests.integration.wms.query_plans import explain_query, list_job_scans
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from wms.db.tasks.shares import IN_USE
from wms.usecases.limits.list_shares import list_shares
from wms.usecases.limits.set_group_share import set_group_share


async def count_leased_by_group(wms: WmsFixture, jobs: int, *, at_once: int = 1) -> Counter[str]:
    """Lease jobs to new pilots, and count them by the group of their task."""
    counts: Counter[str] = Counter()
    for _ in range(jobs // at_once):
        pilot = await wms.add_pilot()
        for job in await wms.lease(pilot, at_once):
            counts[wms.tasks[job.task_uid].group] += 1
    return counts


async def test_many_jobs_of_a_group_do_not_delay_another_group(wms: WmsFixture) -> None:
    await wms.add_task(make_task(group="large"), jobs=100)
    await wms.add_task(make_task(group="small"), jobs=100)
    assert await count_leased_by_group(wms, 20) == {"large": 10, "small": 10}


@pytest.mark.parametrize("at_once", [1, 2])
async def test_shares_follow_the_weights(wms: WmsFixture, at_once: int) -> None:
    for group in ("ocr", "spd"):
        await wms.add_task(make_task(group=group), jobs=100)
    await set_group_share(wms.context, "spd", SetShare(weight=3))
    counts = await count_leased_by_group(wms, 40, at_once=at_once)
    assert counts["spd"] == pytest.approx(30, abs=1)


async def test_group_without_competitors_gets_all_jobs(wms: WmsFixture) -> None:
    await set_group_share(wms.context, "ocr", SetShare(weight=1000))
    await wms.add_task(make_task(group="spd"), jobs=10)
    assert await count_leased_by_group(wms, 10) == {"spd": 10}


async def test_rank_and_age_decide_without_groups(wms: WmsFixture) -> None:
    first = await wms.add_task(make_task(), jobs=3)
    await wms.add_task(make_task(), jobs=3)
    pilot = await wms.add_pilot()
    assert {job.task_uid for job in await wms.lease(pilot, 3)} == {first.uid}


async def test_shares_are_shown_to_members_of_the_group(wms: WmsFixture) -> None:
    await wms.add_task(make_task(group="ocr"), jobs=3)
    await wms.add_task(make_task(), jobs=2)
    await set_group_share(wms.context, "spd", SetShare(weight=2.5))
    await count_leased_by_group(wms, 2)
    shares = (await list_shares(wms.context)).shares
    assert [(each.group, each.weight, each.running) for each in shares] == [
        (EVERYONE, 1.0, 1),
        ("ocr", 1.0, 1),
        ("spd", 2.5, 0),
    ]
    visible_shares = (await list_shares(wms.context, visibility(["spd"]))).shares
    assert [each.group for each in visible_shares] == [EVERYONE, "spd"]


async def test_usage_of_groups_is_found_without_reading_jobs(wms: WmsFixture) -> None:
    await wms.add_task(make_task(), jobs=2)
    await wms.execute("SET enable_seqscan = off")
    assert "jobs" not in list_job_scans(await explain_query(wms, IN_USE))
