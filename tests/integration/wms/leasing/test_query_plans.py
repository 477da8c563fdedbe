"""Frequent statements use their indexes, even with a million waiting jobs."""

import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from sluice.contracts.common.states import JobState
from tests.integration.wms.stage import Stage, make_task
from wms.db.dataflow.grouping_state import SELECT_COMPLETE_BELOW
from wms.db.dataflow.tree_parts import SELECT_FIRST_OPEN
from wms.db.jobs.attempts import CANCEL_IN_FLIGHT
from wms.db.jobs.leases import CLAIM_JOBS, SELECT_EXPIRED
from wms.db.tasks.explanations import SELECT_PAUSED

LEASE = timedelta(seconds=60)


async def plan(stage: Stage, query: str, *arguments: Any) -> dict[str, Any]:
    """Return the plan of a statement as it is executed, and roll the statement back."""
    async with stage.database.connection() as connection:
        transaction = connection.transaction()
        await transaction.start()
        try:
            text = await connection.fetchval(
                f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {query}", *arguments
            )
        finally:
            await transaction.rollback()
    query_plan: dict[str, Any] = json.loads(text)[0]["Plan"]
    return query_plan


def nodes(tree: dict[str, Any]) -> list[dict[str, Any]]:
    return [tree, *(node for child in tree.get("Plans", []) for node in nodes(child))]


def scans(tree: dict[str, Any]) -> set[str]:
    """Return how the table of jobs is read: names of indexes, or else kinds of scan."""
    on_jobs = [
        node
        for node in nodes(tree)
        if node.get("Relation Name") == "jobs" or "jobs" in node.get("Index Name", "")
    ]
    return {
        node.get("Index Name", node["Node Type"]) for node in on_jobs if "Scan" in node["Node Type"]
    }


def buffers(tree: dict[str, Any]) -> int:
    return int(tree["Shared Hit Blocks"]) + int(tree["Shared Read Blocks"])


@pytest.mark.parametrize("analysed", [True, False])
async def test_claim_and_expiry_use_their_indexes(stage: Stage, analysed: bool) -> None:
    """Statistics may be fresh or missing."""
    if not analysed:
        await stage.execute("ALTER TABLE jobs SET (autovacuum_enabled = off)")
    tasks = [await stage.add_task(make_task(), jobs=4000) for _ in range(3)]
    pilot = await stage.add_pilot()
    for _ in range(2):
        await stage.lease(pilot, 1000)
    if analysed:
        await stage.execute("ANALYZE")
    claim = await plan(stage, CLAIM_JOBS, tasks[1].uid, 64, uuid4(), 1000, LEASE, 0)
    assert "jobs_ready" in scans(claim)
    assert "Seq Scan" not in scans(claim)
    expired = await plan(stage, SELECT_EXPIRED, timedelta(seconds=1), 100)
    assert "jobs_in_flight" in scans(expired)
    assert "Seq Scan" not in scans(expired)
    cancel = await plan(stage, CANCEL_IN_FLIGHT, tasks[1].uid, "")
    assert "Seq Scan" not in scans(cancel)
    paused = await plan(stage, SELECT_PAUSED, tasks[1].uid)
    assert "Seq Scan" not in scans(paused)


async def test_claim_costs_the_same_with_any_number_of_waiting_jobs(stage: Stage) -> None:
    """64 of 50 000 jobs are claimed. 10 000 jobs were leased before, without a vacuum since."""
    await stage.execute("ALTER TABLE jobs SET (autovacuum_enabled = off)")
    small = await stage.add_task(make_task(rank=0), jobs=200)
    large = await stage.add_task(make_task(rank=1), jobs=50_000)
    pilot = await stage.add_pilot()
    for _ in range(10):
        assert len(await stage.lease(pilot, 1000)) == 1000
    await stage.execute("ANALYZE")
    async with stage.database.connection() as connection:
        floor = await connection.fetchval("SELECT claimed_seq FROM tasks WHERE uid = $1", large.uid)
    assert floor == 9_999
    few = await plan(stage, CLAIM_JOBS, small.uid, 64, pilot, 1000, LEASE, 0)
    many = await plan(stage, CLAIM_JOBS, large.uid, 64, pilot, 1000, LEASE, 0)
    assert buffers(many) <= 1.5 * buffers(few)


@pytest.mark.parametrize("analysed", [True, False])
async def test_end_of_a_group_is_found_without_reading_all_jobs(
    stage: Stage, analysed: bool
) -> None:
    """Of 40 000 jobs, the first open job is the 10 001st, and 9 990 are in groups."""
    if not analysed:
        await stage.execute("ALTER TABLE jobs SET (autovacuum_enabled = off)")
    task = await stage.add_task(make_task(), jobs=40_000)
    pilot = await stage.add_pilot()
    for _ in range(10):
        await stage.lease(pilot, 1000)
    await stage.execute(
        "UPDATE jobs SET state = $1, ended_at = now(), lease_until = NULL WHERE state = $2",
        JobState.FINISHED,
        JobState.LEASED,
    )
    if analysed:
        await stage.execute("ANALYZE")
    below = await plan(stage, SELECT_COMPLETE_BELOW, task.uid, 9_989)
    part = await plan(stage, SELECT_FIRST_OPEN, task.uid, 9_989, 10**9)
    for query_plan in (below, part):
        assert "Seq Scan" not in scans(query_plan)
        assert buffers(query_plan) < 60
