"""Frequent statements use their indexes, even with a million waiting jobs."""

from datetime import timedelta
from uuid import uuid4

import pytest

from sluice.contracts.common.states import JobState
from tests.integration.wms.query_plans import count_buffers, explain_query, list_job_scans
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from wms.db.dataflow.grouping_state import SELECT_COMPLETE_BELOW
from wms.db.dataflow.tree_parts import SELECT_FIRST_OPEN
from wms.db.jobs.attempts import CANCEL_IN_FLIGHT
from wms.db.jobs.leases import CLAIM_JOBS, SELECT_EXPIRED
from wms.db.tasks.explanations import SELECT_PAUSED

LEASE = timedelta(seconds=60)


@pytest.mark.parametrize("analysed", [True, False])
async def test_claim_and_expiry_use_their_indexes(wms: WmsFixture, analysed: bool) -> None:
    """Statistics may be fresh or missing."""
    if not analysed:
        await wms.execute("ALTER TABLE jobs SET (autovacuum_enabled = off)")
    tasks = [await wms.add_task(make_task(), jobs=4000) for _ in range(3)]
    pilot = await wms.add_pilot()
    for _ in range(2):
        await wms.lease(pilot, 1000)
    if analysed:
        await wms.execute("ANALYZE")
    claim = await explain_query(wms, CLAIM_JOBS, tasks[1].uid, 64, uuid4(), 1000, LEASE, 0)
    assert "jobs_ready" in list_job_scans(claim)
    assert "Seq Scan" not in list_job_scans(claim)
    expired = await explain_query(wms, SELECT_EXPIRED, timedelta(seconds=1), 100)
    assert "jobs_in_flight" in list_job_scans(expired)
    assert "Seq Scan" not in list_job_scans(expired)
    cancel = await explain_query(wms, CANCEL_IN_FLIGHT, tasks[1].uid, "")
    assert "Seq Scan" not in list_job_scans(cancel)
    paused = await explain_query(wms, SELECT_PAUSED, tasks[1].uid)
    assert "Seq Scan" not in list_job_scans(paused)


async def test_claim_costs_the_same_with_any_number_of_waiting_jobs(wms: WmsFixture) -> None:
    """64 of 50 000 jobs are claimed. 10 000 jobs were leased before, without a vacuum since."""
    await wms.execute("ALTER TABLE jobs SET (autovacuum_enabled = off)")
    small = await wms.add_task(make_task(rank=0), jobs=200)
    large = await wms.add_task(make_task(rank=1), jobs=50_000)
    pilot = await wms.add_pilot()
    for _ in range(10):
        assert len(await wms.lease(pilot, 1000)) == 1000
    await wms.execute("ANALYZE")
    async with wms.database.connection() as connection:
        floor = await connection.fetchval("SELECT claimed_seq FROM tasks WHERE uid = $1", large.uid)
    assert floor == 9_999
    few = await explain_query(wms, CLAIM_JOBS, small.uid, 64, pilot, 1000, LEASE, 0)
    many = await explain_query(wms, CLAIM_JOBS, large.uid, 64, pilot, 1000, LEASE, 0)
    assert count_buffers(many) <= 1.5 * count_buffers(few)


@pytest.mark.parametrize("analysed", [True, False])
async def test_end_of_a_group_is_found_without_reading_all_jobs(
    wms: WmsFixture, analysed: bool
) -> None:
    """Of 40 000 jobs, the first open job is the 10 001st, and 9 990 are in groups."""
    if not analysed:
        await wms.execute("ALTER TABLE jobs SET (autovacuum_enabled = off)")
    task = await wms.add_task(make_task(), jobs=40_000)
    pilot = await wms.add_pilot()
    for _ in range(10):
        await wms.lease(pilot, 1000)
    await wms.execute(
        "UPDATE jobs SET state = $1, ended_at = now(), lease_until = NULL WHERE state = $2",
        JobState.FINISHED,
        JobState.LEASED,
    )
    if analysed:
        await wms.execute("ANALYZE")
    earlier_plan = await explain_query(wms, SELECT_COMPLETE_BELOW, task.uid, 9_989)
    part = await explain_query(wms, SELECT_FIRST_OPEN, task.uid, 9_989, 10**9)
    for query_plan in (earlier_plan, part):
        assert "Seq Scan" not in list_job_scans(query_plan)
        assert count_buffers(query_plan) < 60
