"""A pilot ends by draining, by a stop command, or by a kill."""

import uuid
from pathlib import Path

import psutil
import pytest

from pilot.folders.run_folder import RunFolder
from sluice.contracts.common.states import AttemptOutcome, ErrorClass
from sluice.contracts.pilots.heartbeats import Command
from sluice.contracts.pilots.leases import JobToken
from tests.integration.pilot.pilot_process import (
    StartPilot,
    is_alive,
    list_files_below,
    make_jobs,
    make_waiting_tool,
)
from tests.needs import MEMORY_GROUPS
from tests.servers.scripted_wms import ScriptedWms, wait_for
from tests.unit.pilot.builders import SHA, make_job, make_task, write_input
from tests.waiting import Gate


async def test_sigterm_lets_the_running_job_finish_and_leases_no_other(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    pilot = await start_pilot()
    mark, go = root.parent / "mark", Gate(root.parent / "go")
    task_ = make_task(root, make_waiting_tool(mark, go))
    wms.add_jobs(task_, make_jobs(root, task_, 1))
    await wait_for(mark.exists)
    pilot.process.terminate()
    beats = len(wms.heartbeats)
    await wait_for(lambda: len(wms.heartbeats) > beats + 1)
    wms.add_jobs(task_, make_jobs(root, task_, 5)[1:])
    go.open()
    assert await pilot.ended() == 0
    assert [(report.id, report.outcome) for _, report in wms.reports] == [
        (1, AttemptOutcome.FINISHED)
    ]
    assert len(wms.sign_offs) == 1


async def test_second_sigterm_returns_the_running_job(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    pilot = await start_pilot()
    mark = root.parent / "mark"
    task_ = make_task(root, make_waiting_tool(mark, Gate(root.parent / "go")))
    wms.add_jobs(task_, make_jobs(root, task_, 1))
    await wait_for(mark.exists)
    pilot.process.terminate()
    await wait_for(lambda: pilot.has_said("pilot.drain"))
    pilot.process.terminate()
    assert await pilot.ended() == 0
    assert wms.reports == []
    assert wms.sign_offs[0][1].returned == [JobToken(id=1, attempt=1)]
    assert not is_alive(int(mark.read_text()))
    assert list_files_below(root / "out") == list_files_below(root / "logs") == []


async def test_drain_timeout_returns_the_running_job(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    pilot = await start_pilot("--drain-timeout", "0.5")
    mark = root.parent / "mark"
    task_ = make_task(root, make_waiting_tool(mark, Gate(root.parent / "go")))
    wms.add_jobs(task_, make_jobs(root, task_, 1))
    await wait_for(mark.exists)
    pilot.process.terminate()
    assert await pilot.ended() == 0
    assert wms.sign_offs[0][1].returned == [JobToken(id=1, attempt=1)]


async def test_pilot_signs_off_when_the_wms_drains_it(
    wms: ScriptedWms, start_pilot: StartPilot
) -> None:
    pilot = await start_pilot()
    wms.drain = True
    assert await pilot.ended() == 0
    assert len(wms.sign_offs) == 1


async def test_pilot_that_is_stopped_by_the_wms_cancels_its_jobs_and_signs_off(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    """The WMS stops a pilot with a cancel command for each job and the drain flag."""
    pilot = await start_pilot()
    mark = root.parent / "mark"
    task_ = make_task(root, make_waiting_tool(mark, Gate(root.parent / "go")))
    wms.add_jobs(task_, make_jobs(root, task_, 1))
    await wait_for(mark.exists)
    wms.commands = [Command(kind="cancel", job=JobToken(id=1, attempt=1))]
    wms.drain = True
    assert await pilot.ended() == 0
    assert [(report.id, report.outcome) for _, report in wms.reports] == [
        (1, AttemptOutcome.CANCELED)
    ]
    assert wms.sign_offs[0][1].returned == []
    assert not is_alive(int(mark.read_text()))


async def test_sigkill_leaves_no_process_and_the_next_pilot_reports_lost_jobs(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    """Invariant 7: the next pilot cleans up after a killed pilot."""
    pilot = await start_pilot()
    mark = root.parent / "mark"
    task_ = make_task(root, make_waiting_tool(mark, Gate(root.parent / "go")))
    first = make_task(root, SHA)
    # With so many jobs, the pilot knows that they are short, even if the first one took long.
    short = [
        make_job(first, [write_input(root / "warm" / f"{number}.dat")], job_id=number)
        for number in range(80, 100)
    ]
    wms.add_jobs(first, short)
    await wait_for(lambda: len(wms.reports) == len(short))
    wms.reports.clear()
    done = list_files_below(root / "out")
    wms.add_jobs(task_, make_jobs(root, task_, 4))
    await wait_for(mark.exists)
    await wait_for(lambda: len(wms.leased_jobs) == len(short) + 4)
    await wait_for(lambda: any(len(beat.waiting) == 3 for beat in wms.heartbeats))
    family = [process.pid for process in pilot.family()]
    assert int(mark.read_text()) in family
    pilot.process.kill()
    await wait_for(lambda: not any(is_alive(pid) for pid in family))
    await start_pilot()
    await wait_for(lambda: wms.sign_offs)
    ((uid, report),) = wms.reports
    assert uid == wms.registrations[0].uid
    assert (report.id, report.error_class) == (1, ErrorClass.PILOT_LOST)
    assert wms.sign_offs[0][1].returned == [JobToken(id=number, attempt=1) for number in (2, 3, 4)]
    assert list_files_below(root / "out") == done


def get_memory_group(folder: Path) -> str | None:
    (run,) = (folder / "runs").iterdir()
    folder_name = RunFolder(run).read_memory_group()
    assert folder_name is None or Path(folder_name).is_dir()
    return folder_name


@pytest.mark.needs(MEMORY_GROUPS)
async def test_memory_group_of_a_killed_pilot_is_removed_by_a_pilot_in_another_group(
    start_pilot: StartPilot, tmp_path: Path
) -> None:
    pilot = await start_pilot()
    folder_name = get_memory_group(tmp_path / "work" / "node-1")
    if folder_name is None:
        pytest.fail("cannot create a memory control group on this machine", pytrace=False)
    left, elsewhere = Path(folder_name), Path(folder_name).with_name(f"elsewhere-{uuid.uuid4()}")
    family = [process.pid for process in pilot.family()]
    pilot.process.kill()
    await wait_for(lambda: not any(is_alive(pid) for pid in family))
    enter = ["sh", "-c", 'mkdir "$0" && echo $$ > "$0/cgroup.procs" && exec "$@"', str(elsewhere)]
    other = await start_pilot(before=enter)
    await wait_for(lambda: not left.exists())
    other.process.terminate()
    assert await other.ended() == 0
    elsewhere.rmdir()


async def test_dead_slot_is_replaced_and_its_tool_is_ended(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    pilot = await start_pilot()
    mark = root.parent / "mark"
    task_ = make_task(root, make_waiting_tool(mark, Gate(root.parent / "go")))
    wms.add_jobs(task_, make_jobs(root, task_, 1))
    await wait_for(mark.exists)
    tool_pid = int(mark.read_text())
    slot = psutil.Process(tool_pid).parent()
    assert slot is not None
    slot.kill()
    await wait_for(lambda: wms.reports)
    assert wms.reports[0][1].error_class is ErrorClass.INTERNAL
    await wait_for(lambda: not is_alive(tool_pid))
    other = make_task(root, SHA)
    wms.add_jobs(other, [make_job(other, [write_input(root / "in" / "b.dat")], job_id=9)])
    await wait_for(lambda: wms.find_report(9) is not None)
    assert pilot.process.returncode is None


async def test_pilot_with_wrong_settings_exits_with_status_2(start_pilot: StartPilot) -> None:
    pilot = await start_pilot("--slots", "0", wait=False)
    assert await pilot.ended() == 2
