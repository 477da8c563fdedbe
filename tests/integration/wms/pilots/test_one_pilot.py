"""A pilot is shown with its work, can be stopped, and can be removed from the lists."""

from datetime import UTC, datetime

import pytest

from sluice.contracts.common.problems import Conflict, NotFound
from sluice.contracts.common.states import (
    AttemptOutcome,
    JobState,
    PilotState,
    ReportAnswer,
    TaskState,
)
from sluice.contracts.jobs.needs import Warm
from sluice.contracts.jobs.warm_workers import LoadTool, WarmWorkerState
from sluice.contracts.pilots.heartbeats import Heartbeat
from sluice.contracts.pilots.leases import LeaseRequest
from sluice.contracts.pilots.pilot_list import PilotActivity
from tests.integration.wms.pilots.pilot_events import expire_silent_pilot, register, sign_off
from tests.integration.wms.query_plans import explain_query, list_job_scans, list_nodes
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from wms.db.pilots.pilot_detail import SELECT_ENDED, SELECT_JOBS
from wms.db.pilots.pilot_pages import PilotQuery
from wms.usecases.leasing.lease_jobs import lease_jobs
from wms.usecases.leasing.load_tool import load_tool
from wms.usecases.leasing.renew_leases import renew_leases
from wms.usecases.pilots.get_pilot import get_pilot
from wms.usecases.pilots.list_pilots import list_pilots
from wms.usecases.pilots.remove_pilot import remove_pilot
from wms.usecases.pilots.stop_pilot import stop_pilot
from wms.usecases.tasks.get_job import get_job


async def test_jobs_of_a_stopped_pilot_are_returned_without_using_up_an_attempt(
    wms: WmsFixture,
) -> None:
    """Invariant 6: the jobs are leased again only after the pilot has stopped them."""
    task = await wms.add_task(make_task(retry=1), jobs=3)
    pilot, other = await wms.add_pilot(name="old"), await wms.add_pilot(name="new")
    running, leased_ahead = await wms.lease(pilot, 2)
    await wms.send_heartbeat(pilot, running=[running], waiting=[leased_ahead])
    await stop_pilot(wms.context, pilot)
    await stop_pilot(wms.context, pilot)
    assert (await wms.request_lease(pilot, 1)).drain
    answer = await wms.send_heartbeat(pilot, running=[running], waiting=[leased_ahead])
    assert answer.drain
    assert {(c.kind, c.job.id) for c in answer.commands} == {
        ("cancel", running.id),
        ("cancel", leased_ahead.id),
    }
    assert len(await wms.lease(other, 3)) == 1, "a job was leased before the pilot had stopped it"
    assert (await get_pilot(wms.context, pilot)).pilot.activity is PilotActivity.STOPPING
    reports = [wms.make_report(job, AttemptOutcome.CANCELED) for job in (running, leased_ahead)]
    assert await wms.report(pilot, *reports) == [ReportAnswer.ACCEPTED] * 2
    second_jobs = await wms.lease(other, 3)
    assert {job.id for job in second_jobs} == {running.id, leased_ahead.id}
    job = await get_job(wms.context, running.id)
    assert job.attempts[0].outcome is AttemptOutcome.RETURNED
    assert job.attempts[0].message == "handed back: pilot old was told to stop"
    assert await wms.report(pilot, *reports) == [ReportAnswer.ALREADY] * 2
    await wms.fail(other, second_jobs[0])
    assert (await wms.states(task))[JobState.FAILED] == 1, "the returned attempt counted"


async def test_job_that_finishes_before_the_stop_counts(wms: WmsFixture) -> None:
    task = await wms.add_task(make_task(), jobs=1)
    pilot = await wms.add_pilot()
    [job] = await wms.lease(pilot)
    await stop_pilot(wms.context, pilot)
    await wms.send_heartbeat(pilot, running=[job])
    assert await wms.finish(pilot, job) == [ReportAnswer.ACCEPTED]
    assert (await wms.status(task)).state is TaskState.FINISHED


async def test_stopped_pilot_that_does_not_answer_loses_its_jobs_by_expiry(wms: WmsFixture) -> None:
    task = await wms.add_task(make_task(), jobs=1)
    pilot = await wms.add_pilot()
    [job] = await wms.lease(pilot)
    await stop_pilot(wms.context, pilot)
    await wms.send_heartbeat(pilot, running=[job])
    await wms.backdate_leases(job)
    await wms.expire_leases()
    assert (await wms.states(task))[JobState.READY] == 1
    await expire_silent_pilot(wms, pilot)
    await wms.add_pilot(uid=pilot)
    assert len(await wms.lease(pilot)) == 1, "the restarted pilot got no job"
    await sign_off(wms, pilot)
    with pytest.raises(Conflict, match="signed off: there is nothing to stop"):
        await stop_pilot(wms.context, pilot)
    for unknown in (stop_pilot, remove_pilot, get_pilot):
        with pytest.raises(NotFound):
            await unknown(wms.context, task.uid)


async def test_only_a_lost_or_gone_pilot_can_be_removed_from_the_lists(wms: WmsFixture) -> None:
    uid = await wms.add_pilot()

    async def count_listed() -> int:
        paged = [
            await list_pilots(wms.context, PilotQuery(limit=5, attention=attention))
            for attention in (False, True)
        ]
        return sum(len(page.pilots) + (page.total or 0) for page in paged)

    with pytest.raises(Conflict, match=r"is active, so it stays on the lists: stop it first"):
        await remove_pilot(wms.context, uid)
    await expire_silent_pilot(wms, uid)
    assert await count_listed() == 4
    for _ in range(2):
        await remove_pilot(wms.context, uid)
    assert await count_listed() == 0
    assert (await get_pilot(wms.context, uid)).pilot.activity is PilotActivity.FAILED
    await wms.send_heartbeat(uid)
    assert await count_listed() == 2, "a pilot that sends heartbeats again is missing"
    await expire_silent_pilot(wms, uid)
    assert await count_listed() == 4, "a pilot that is lost again is missing"
    await remove_pilot(wms.context, uid)
    await register(wms, uid)
    await sign_off(wms, uid)
    assert await count_listed() == 2, "a pilot that registered again and signed off is missing"


async def test_pilot_is_shown_with_its_activity_jobs_and_failures(wms: WmsFixture) -> None:
    task = await wms.add_task(make_task(step="layout", template="ocr"), jobs=6)
    pilot = await wms.add_pilot()
    assert (await get_pilot(wms.context, pilot)).pilot.activity is PilotActivity.STARTING
    jobs = await wms.lease(pilot, 4)
    await wms.send_heartbeat(pilot, running=jobs[:1], waiting=jobs[1:])
    await wms.finish(pilot, *jobs[2:])
    await wms.fail(pilot, jobs[1])
    details = await get_pilot(wms.context, pilot)
    assert details.pilot.activity is PilotActivity.WORKING
    assert details.pilot.version == "1"
    assert [(job.job_id, job.step, job.outcome) for job in details.jobs] == [
        (jobs[0].id, "layout", None)
    ]
    assert [job.outcome for job in details.ended] == [AttemptOutcome.FAILED] + [
        AttemptOutcome.FINISHED
    ] * 2
    assert [job.message for job in details.failures] == ["exit code 1"]
    assert details.failures[0].chain_uid == task.chain_uid
    [step] = details.steps
    assert (step.step, step.finished, step.failed, details.attempts) == ("layout", 2, 1, 3)
    await wms.finish(pilot, jobs[0])
    assert (await get_pilot(wms.context, pilot)).pilot.activity is PilotActivity.IDLE
    [listed] = (await list_pilots(wms.context)).pilots
    assert (listed.state, listed.version) == (PilotState.ACTIVE, "1")


async def test_ended_jobs_of_a_pilot_are_read_along_an_index(wms: WmsFixture) -> None:
    """The number of earlier jobs does not matter."""
    await wms.execute("ALTER TABLE jobs SET (autovacuum_enabled = off)")
    await wms.add_task(make_task(), jobs=4000)
    pilots = [await wms.add_pilot() for _ in range(2)]
    for pilot in pilots:
        jobs = await wms.lease(pilot, 1000)
        await wms.finish(pilot, *jobs)
    await wms.execute("ANALYZE")
    ended = await explain_query(wms, SELECT_ENDED, pilots[0], 20, None)
    used = {node["Index Name"] for node in list_nodes(ended) if "Index Name" in node}
    assert "attempts_by_pilot" in used
    assert not [node for node in list_nodes(ended) if node["Node Type"] == "Sort"
                and node["Actual Rows"] > 20]  # fmt: skip
    # The primary key finds the jobs of duplicate attempts.
    first_plan = await explain_query(wms, SELECT_JOBS, pilots[0], 20, None)
    assert list_job_scans(first_plan) == {"jobs_in_flight", "jobs_pkey"}


async def test_warm_workers_are_shown_as_the_last_heartbeat_reported(wms: WmsFixture) -> None:
    pilot = await wms.add_pilot()
    ocr = WarmWorkerState(kind="a", step="ocr", since=datetime(2026, 1, 1, tzinfo=UTC), jobs=3)
    await renew_leases(wms.context, pilot, Heartbeat(loaded=[ocr]))
    [count_listed] = (await list_pilots(wms.context, PilotQuery(limit=10))).pilots
    assert (count_listed.loaded, str(ocr)) == ([ocr], "ocr (idle, 3 jobs)")
    assert (await get_pilot(wms.context, pilot)).pilot.loaded == [ocr]
    await renew_leases(wms.context, pilot, Heartbeat())
    assert (await get_pilot(wms.context, pilot)).pilot.loaded == []


async def test_pilot_gets_jobs_for_its_warm_worker_first(wms: WmsFixture) -> None:
    older, newer = (make_task(step=kind, warm=Warm(kind=kind)) for kind in ("a", "b"))
    for task in (older, newer):
        await wms.add_task(task, jobs=1)
    pilot = await wms.add_pilot()
    request = LeaseRequest(jobs=1, loaded=["b"])
    [job] = (await lease_jobs(wms.context, pilot, request)).jobs
    assert job.task_uid == newer.uid


async def test_pilot_gets_jobs_of_the_step_that_it_is_to_load_first(wms: WmsFixture) -> None:
    """The order holds for this pilot only, whatever the ranks. Without such jobs it gets others."""
    low = await wms.add_task(make_task(step="layout", rank=1), jobs=3)
    high = await wms.add_task(make_task(step="export", rank=50), jobs=9)
    pilot, other = await wms.add_pilot(), await wms.add_pilot()
    assert [job.task_uid for job in await wms.lease(pilot)] == [high.uid]
    for _ in range(2):
        await load_tool(wms.context, pilot, LoadTool(step="layout"))
    assert (await get_pilot(wms.context, pilot)).pilot.to_load == "layout"
    assert [job.task_uid for job in await wms.lease(other)] == [high.uid]
    jobs = await wms.lease(pilot, 4)
    assert [job.task_uid for job in jobs] == [low.uid] * 3 + [high.uid]
    await load_tool(wms.context, pilot, LoadTool(step="decode"))
    assert len(await wms.lease(pilot)) == 1, "the pilot got no other job"
    await load_tool(wms.context, pilot, LoadTool(step=None))
    assert (await get_pilot(wms.context, pilot)).pilot.to_load is None


async def test_only_an_active_pilot_accepts_a_step_to_load(wms: WmsFixture) -> None:
    pilot = await wms.add_pilot()
    await load_tool(wms.context, pilot, LoadTool(step="layout"))
    await register(wms, pilot)
    assert (await get_pilot(wms.context, pilot)).pilot.to_load is None, (
        "the restarted pilot kept the order"
    )
    await sign_off(wms, pilot)
    with pytest.raises(Conflict, match="no longer takes jobs"):
        await load_tool(wms.context, pilot, LoadTool(step="layout"))
    with pytest.raises(NotFound):
        await load_tool(wms.context, make_task().uid, LoadTool(step="layout"))
