"""A pilot process survives outages, stale answers, lost leases and kills."""

import asyncio
import signal
from pathlib import Path

from sluice.contracts.common.states import AttemptOutcome, AttemptPhase, ErrorClass, ReportAnswer
from sluice.contracts.jobs.needs import Resources
from sluice.contracts.pilots.heartbeats import Command
from sluice.contracts.pilots.leases import JobToken
from sluice.contracts.pilots.reports import AttemptReport
from tests.integration.pilot.pilot_process import (
    StartPilot,
    is_alive,
    list_files_below,
    make_jobs,
    make_waiting_tool,
)
from tests.servers.scripted_wms import ScriptedWms, wait_for
from tests.unit.pilot.builders import SHA, make_task, make_tool
from tests.waiting import Gate


async def test_pilot_registers_runs_jobs_and_signs_off(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path, tmp_path: Path
) -> None:
    pilot = await start_pilot()
    task_ = make_task(root, SHA)
    wms.add_jobs(task_, make_jobs(root, task_, 50))
    await wait_for(lambda: len(wms.reports) == 50)
    assert {report.outcome for _, report in wms.reports} == {AttemptOutcome.FINISHED}
    assert {report.id for _, report in wms.reports} == set(range(1, 51))
    assert len(list_files_below(root / "out")) == len(list_files_below(root / "logs")) == 50
    assert max(request.jobs for request in wms.lease_requests) > 1
    assert wms.lease_requests[-1].known_tasks == [task_.uid]
    pilot.process.send_signal(signal.SIGTERM)
    assert await pilot.ended() == 0
    ((uid, sign_off),) = wms.sign_offs
    assert uid == wms.registrations[0].uid
    assert sign_off.returned == []
    assert list_files_below(tmp_path / "work") == ["key", "lock"]


async def test_concurrent_jobs_never_need_more_cores_than_the_pilot_has(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    """The WMS leases all jobs at once. Each tool fails if another one runs at the same time."""
    await start_pilot("--slots", "4", SLUICE_PILOT_CORES="3")
    # The tool takes long enough for another job to begin beside it.
    alone = "mkdir $0 && sleep 0.3 && rmdir $0"
    task_ = make_task(
        root,
        make_tool(["sh", "-c", alone, str(root.parent / "alone")]),
        resources=Resources(cores=2, time_limit=60.0),
    )
    wms.add_jobs(task_, make_jobs(root, task_, 4))
    await wait_for(lambda: len(wms.reports) == 4)
    assert [(report.outcome, report.message) for _, report in wms.reports] == [
        (AttemptOutcome.FINISHED, "")
    ] * 4
    free_capacity = wms.lease_requests[0].free_capacity
    assert free_capacity is not None
    assert (free_capacity.free.cores, wms.registrations[0].resources.cores) == (3, 3)


async def test_pilot_waits_for_the_wms_to_start(wms: ScriptedWms, start_pilot: StartPilot) -> None:
    await wms.stop()
    pilot = await start_pilot(wait=False)
    await wait_for(lambda: pilot.has_said("pilot.not_registered"))
    await wms.start()
    await wait_for(lambda: wms.registrations)
    assert len(wms.registrations) == 1


async def test_forgotten_pilot_registers_again_under_the_same_uid(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    await start_pilot()
    wms.is_pilot_forgotten = True
    await wait_for(lambda: len(wms.registrations) == 2)
    assert wms.registrations[0] == wms.registrations[1]
    task_ = make_task(root, SHA)
    wms.add_jobs(task_, make_jobs(root, task_, 3))
    await wait_for(lambda: len(wms.reports) == 3)


async def test_reports_of_an_outage_arrive_after_the_outage(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    await start_pilot()
    wms.silent = {"report"}
    task_ = make_task(root, SHA)
    wms.add_jobs(task_, make_jobs(root, task_, 20))
    await wait_for(lambda: len(list_files_below(root / "logs")) == 20)
    await wms.stop()
    wms.silent = set()
    await wms.start()
    await wait_for(lambda: len(wms.reports) == 20)
    assert len({report.id for _, report in wms.reports}) == 20


async def test_reports_survive_a_kill_of_the_pilot(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path, tmp_path: Path
) -> None:
    pilot = await start_pilot()
    wms.silent = {"report"}
    task_ = make_task(root, SHA)
    wms.add_jobs(task_, make_jobs(root, task_, 5))
    await wait_for(lambda: len(list_files_below(root / "logs")) == 5)
    await wait_for(lambda: not wms.leased_jobs or len(wms.heartbeats) > 1)
    pilot.process.kill()
    await pilot.ended()
    wms.silent = set()
    second = await start_pilot()
    await wait_for(lambda: len(wms.sign_offs) == 1)
    first_uid = wms.registrations[0].uid
    assert {uid for uid, _ in wms.reports} == {first_uid}
    assert {report.id for _, report in wms.reports} == set(range(1, 6))
    finished = [report for _, report in wms.reports if report.outcome is AttemptOutcome.FINISHED]
    assert list_files_below(root / "out") == sorted(report.outputs[0].name for report in finished)
    assert wms.sign_offs[0][0] == first_uid
    second.process.terminate()
    assert await second.ended() == 0
    assert list_files_below(tmp_path / "work") == ["key", "lock"]


async def test_files_of_stale_attempts_are_removed(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    wms.answer = lambda report: ReportAnswer.STALE if report.id == 2 else ReportAnswer.ACCEPTED
    await start_pilot()
    task_ = make_task(root, SHA)
    wms.add_jobs(task_, make_jobs(root, task_, 3))
    await wait_for(lambda: len(wms.reports) == 3)
    await wait_for(lambda: len(list_files_below(root / "logs")) == 2)
    assert list_files_below(root / "out") == ["00000001.1-1.out", "00000003.1-3.out"]
    assert list_files_below(root / "logs") == ["00000001.1.log", "00000003.1.log"]


async def test_report_that_the_wms_refuses_does_not_block_other_reports(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    from sluice.contracts.common.problems import Unprocessable  # noqa: PLC0415

    def answer(report: AttemptReport) -> ReportAnswer:
        if report.id == 2:
            raise Unprocessable("what is this?")
        return ReportAnswer.ACCEPTED

    wms.answer = answer
    pilot = await start_pilot()
    task_ = make_task(root, SHA)
    wms.add_jobs(task_, make_jobs(root, task_, 3))
    await wait_for(lambda: wms.find_report(3) is not None)
    pilot.process.terminate()
    assert await pilot.ended() == 0


async def test_running_job_stops_before_its_lease_ends(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    """Invariant 6: a job does not run after its lease has ended."""
    wms.lease_seconds = 4.0
    await start_pilot()
    mark = root.parent / "mark"
    task_ = make_task(root, make_waiting_tool(mark, Gate(root.parent / "go")))
    wms.add_jobs(task_, make_jobs(root, task_, 1))
    await wait_for(mark.exists)
    tool_pid = int(mark.read_text())
    wms.silent = {"heartbeat", "report", "lease"}
    last_renewed = asyncio.get_running_loop().time()
    await wait_for(lambda: not is_alive(tool_pid))
    assert asyncio.get_running_loop().time() - last_renewed < wms.lease_seconds
    wms.silent = set()
    await wait_for(lambda: wms.reports)
    report = wms.find_report(1)
    assert report is not None
    assert (report.outcome, report.error_class) == (AttemptOutcome.FAILED, ErrorClass.PILOT_LOST)


async def test_heartbeats_name_a_long_job_until_it_finishes(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    wms.lease_seconds = 2.0
    await start_pilot()
    mark, go = root.parent / "mark", Gate(root.parent / "go")
    task_ = make_task(root, make_waiting_tool(mark, go))
    wms.add_jobs(task_, make_jobs(root, task_, 1))
    await wait_for(mark.exists)
    before = len(wms.heartbeats)
    await wait_for(lambda: len(wms.heartbeats) > before + 8)
    assert wms.heartbeats[-1].running[0].id == 1
    go.open()
    await wait_for(lambda: wms.reports)
    assert wms.reports[0][1].outcome is AttemptOutcome.FINISHED


async def test_job_start_is_reported_before_the_next_heartbeat_is_due(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    wms.heartbeat_seconds, wms.lease_seconds = 3600.0, 7200.0
    await start_pilot()
    mark, go = root.parent / "mark", Gate(root.parent / "go")
    task_ = make_task(root, make_waiting_tool(mark, go))
    wms.add_jobs(task_, make_jobs(root, task_, 1))
    await wait_for(lambda: any(job.id == 1 for beat in wms.heartbeats for job in beat.running))
    go.open()
    await wait_for(lambda: wms.reports)
    assert wms.reports[0][1].outcome is AttemptOutcome.FINISHED


async def test_canceled_job_is_stopped_and_reported(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    await start_pilot()
    mark = root.parent / "mark"
    task_ = make_task(root, make_waiting_tool(mark, Gate(root.parent / "go")))
    wms.add_jobs(task_, make_jobs(root, task_, 1))
    await wait_for(mark.exists)
    await wait_for(
        lambda: any(
            job.phase is AttemptPhase.RUN
            for heartbeat in wms.heartbeats
            for job in heartbeat.running
        )
    )
    wms.commands = [Command(kind="cancel", job=JobToken(id=1, attempt=1))]
    await wait_for(lambda: wms.reports)
    assert wms.reports[0][1].outcome is AttemptOutcome.CANCELED
    assert not is_alive(int(mark.read_text()))
    await wait_for(lambda: not wms.commands)
