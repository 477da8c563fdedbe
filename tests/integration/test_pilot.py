"""The pilot as a process against a WMS that misbehaves on purpose: outages, stale answers, lost
leases, kills."""

import asyncio
import os
import signal
import sys
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from pilot.folders.run_folder import RunFolder
from sluice.contracts.pilots import AttemptReport, Command, JobToken, LeasedJob, PilotTask
from sluice.contracts.plan import Resources
from sluice.contracts.states import AttemptOutcome, AttemptPhase, ErrorClass, ReportAnswer
from tests.e2e.systems import NO_CONTAINERS
from tests.servers.scripted_wms import ScriptedWms, until
from tests.unit.pilot.builders import SHA, input_file, job, task, tool
from tests.waiting import Gate

StartPilot = Callable[..., Awaitable["PilotProcess"]]


class PilotProcess:
    def __init__(self, process: asyncio.subprocess.Process, log: Path) -> None:
        self.process = process
        self._log = log

    def has_said(self, event: str) -> bool:
        return f'"event": "{event}"' in self._log.read_text()

    def family(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    async def ended(self) -> int:
        async with asyncio.timeout(30):
            return await self.process.wait()


@pytest.fixture
async def wms() -> AsyncIterator[ScriptedWms]:
    wms = ScriptedWms()
    await wms.start()
    yield wms
    await wms.stop()


@pytest.fixture
async def start_pilot(wms: ScriptedWms, tmp_path: Path) -> AsyncIterator[StartPilot]:
    """Starts ``sluice-pilot`` with one slot; all that still live at the end are killed. ``before``:
    a command that becomes it."""
    started: list[PilotProcess] = []

    async def start(
        *options: str, wait: bool = True, before: Sequence[str] = (), **settings: str
    ) -> PilotProcess:
        arguments = [
            "--wms-url",
            wms.url,
            "--name",
            "node-1",
            "--slots",
            "1",
            "--work-dir",
            str(tmp_path / "work"),
            *options,
        ]
        quick = {"SLUICE_PILOT_GRACE": "0.5", "SLUICE_PILOT_LEASE_WAIT": "2", **NO_CONTAINERS}
        environment = {**os.environ, **quick, **settings}
        log = tmp_path / f"pilot-{len(started)}.log"
        with log.open("wb") as output:
            command = [*before, sys.executable, "-m", "pilot", *arguments]
            process = await asyncio.create_subprocess_exec(*command, env=environment, stderr=output)
        started.append(PilotProcess(process, log))
        asked = len(wms.lease_requests)
        if wait:
            await until(lambda: len(wms.lease_requests) > asked, seconds=60)
        return started[-1]

    yield start
    for pilot in started:
        if pilot.process.returncode is None:
            pilot.process.kill()
            await pilot.process.wait()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "store"


def jobs_of(root: Path, task_: PilotTask, count: int) -> list[LeasedJob]:
    return [
        job(task_, [input_file(root / "in" / f"{n}.dat", data=f"{n}".encode())], job_id=n, seq=n)
        for n in range(1, count + 1)
    ]


def waiting_tool(mark: Path, go: Gate, **fields: Any) -> dict[str, Any]:
    """Makes the file ``mark`` with its pid and waits at the gate ``go``, deaf to SIGTERM."""
    code = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "with open(sys.argv[1] + '.part', 'w') as file: file.write(str(os.getpid()))\n"
        "os.rename(sys.argv[1] + '.part', sys.argv[1])\n"
        "open(sys.argv[2]).close()\n"
    )
    return tool([sys.executable, "-c"], arguments=[code, str(mark), str(go)], **fields)


def files_below(folder: Path) -> list[str]:
    return (
        sorted(path.name for path in folder.rglob("*") if path.is_file()) if folder.exists() else []
    )


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def test_from_registration_to_sign_off(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path, tmp_path: Path
) -> None:
    pilot = await start_pilot()
    task_ = task(root, SHA)
    wms.add(task_, jobs_of(root, task_, 50))
    await until(lambda: len(wms.reports) == 50)
    assert {report.outcome for _, report in wms.reports} == {AttemptOutcome.FINISHED}
    assert {report.id for _, report in wms.reports} == set(range(1, 51))
    assert len(files_below(root / "out")) == len(files_below(root / "logs")) == 50
    assert max(request.jobs for request in wms.lease_requests) > 1
    assert wms.lease_requests[-1].known_tasks == [task_.uid]
    pilot.process.send_signal(signal.SIGTERM)
    assert await pilot.ended() == 0
    ((uid, sign_off),) = wms.signed_off
    assert uid == wms.registered[0].uid
    assert sign_off.returned == []
    assert files_below(tmp_path / "work") == ["lock"]


async def test_jobs_never_need_more_cores_together_than_the_pilot_has(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    """Leased all at once, as by a WMS that does not look at what is free; each fails where it meets
    another."""
    await start_pilot("--slots", "4", SLUICE_PILOT_CORES="3")
    alone = "mkdir $0 && sleep 0.3 && rmdir $0"
    task_ = task(
        root,
        tool(["sh", "-c", alone, str(root.parent / "alone")]),
        resources=Resources(cores=2, time_limit=60.0),
    )
    wms.add(task_, jobs_of(root, task_, 4))
    await until(lambda: len(wms.reports) == 4)
    assert [(report.outcome, report.message) for _, report in wms.reports] == [
        (AttemptOutcome.FINISHED, "")
    ] * 4
    room = wms.lease_requests[0].room
    assert room is not None
    assert (room.free.cores, wms.registered[0].resources.cores) == (3, 3)


async def test_it_waits_for_a_wms_that_is_not_there_yet(
    wms: ScriptedWms, start_pilot: StartPilot
) -> None:
    await wms.stop()
    pilot = await start_pilot(wait=False)
    await until(lambda: pilot.has_said("pilot.not_registered"))
    await wms.start()
    await until(lambda: wms.registered)
    assert len(wms.registered) == 1


async def test_registers_again_as_the_same_pilot_when_forgotten(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    await start_pilot()
    wms.forgotten = True
    await until(lambda: len(wms.registered) == 2)
    assert wms.registered[0] == wms.registered[1]
    task_ = task(root, SHA)
    wms.add(task_, jobs_of(root, task_, 3))
    await until(lambda: len(wms.reports) == 3)


async def test_reports_of_an_outage_arrive_after_it(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    await start_pilot()
    wms.silent = {"report"}
    task_ = task(root, SHA)
    wms.add(task_, jobs_of(root, task_, 20))
    await until(lambda: len(files_below(root / "logs")) == 20)
    await wms.stop()
    wms.silent = set()
    await wms.start()
    await until(lambda: len(wms.reports) == 20)
    assert len({report.id for _, report in wms.reports}) == 20


async def test_reports_survive_the_pilots_death(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path, tmp_path: Path
) -> None:
    pilot = await start_pilot()
    wms.silent = {"report"}
    task_ = task(root, SHA)
    wms.add(task_, jobs_of(root, task_, 5))
    await until(lambda: len(files_below(root / "logs")) == 5)
    await until(lambda: not wms.leased or len(wms.heartbeats) > 1)
    pilot.process.kill()
    await pilot.ended()
    wms.silent = set()
    second = await start_pilot()
    await until(lambda: len(wms.signed_off) == 1)
    first_uid = wms.registered[0].uid
    assert {uid for uid, _ in wms.reports} == {first_uid}
    assert {report.id for _, report in wms.reports} == set(range(1, 6))
    finished = [report for _, report in wms.reports if report.outcome is AttemptOutcome.FINISHED]
    assert files_below(root / "out") == sorted(report.outputs[0].name for report in finished)
    assert wms.signed_off[0][0] == first_uid
    second.process.terminate()
    assert await second.ended() == 0
    assert files_below(tmp_path / "work") == ["lock"]


async def test_files_of_stale_attempts_are_removed(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    wms.answer = lambda report: ReportAnswer.STALE if report.id == 2 else ReportAnswer.ACCEPTED
    await start_pilot()
    task_ = task(root, SHA)
    wms.add(task_, jobs_of(root, task_, 3))
    await until(lambda: len(wms.reports) == 3)
    await until(lambda: len(files_below(root / "logs")) == 2)
    assert files_below(root / "out") == ["00000001.1-1.out", "00000003.1-3.out"]
    assert files_below(root / "logs") == ["00000001.1.log", "00000003.1.log"]


async def test_a_report_nobody_understands_does_not_hold_up_the_others(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    from sluice.contracts.problems import Unprocessable  # noqa: PLC0415

    def answer(report: AttemptReport) -> ReportAnswer:
        if report.id == 2:
            raise Unprocessable("what is this?")
        return ReportAnswer.ACCEPTED

    wms.answer = answer
    pilot = await start_pilot()
    task_ = task(root, SHA)
    wms.add(task_, jobs_of(root, task_, 3))
    await until(lambda: wms.report_of(3) is not None)
    pilot.process.terminate()
    assert await pilot.ended() == 0


async def test_a_running_job_stops_before_its_lease_ends(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    """Invariant 6."""
    wms.lease_seconds = 4.0
    await start_pilot()
    mark = root.parent / "mark"
    task_ = task(root, waiting_tool(mark, Gate(root.parent / "go")))
    wms.add(task_, jobs_of(root, task_, 1))
    await until(mark.exists)
    tool_pid = int(mark.read_text())
    wms.silent = {"heartbeat", "report", "lease"}
    last_renewed = asyncio.get_running_loop().time()
    await until(lambda: not alive(tool_pid))
    assert asyncio.get_running_loop().time() - last_renewed < wms.lease_seconds
    wms.silent = set()
    await until(lambda: wms.reports)
    report = wms.report_of(1)
    assert report is not None
    assert (report.outcome, report.error_class) == (AttemptOutcome.FAILED, ErrorClass.PILOT_LOST)


async def test_heartbeats_keep_a_long_job(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    wms.lease_seconds = 2.0
    await start_pilot()
    mark, go = root.parent / "mark", Gate(root.parent / "go")
    task_ = task(root, waiting_tool(mark, go))
    wms.add(task_, jobs_of(root, task_, 1))
    await until(mark.exists)
    before = len(wms.heartbeats)
    await until(lambda: len(wms.heartbeats) > before + 8)
    assert wms.heartbeats[-1].running[0].id == 1
    go.open()
    await until(lambda: wms.reports)
    assert wms.reports[0][1].outcome is AttemptOutcome.FINISHED


async def test_cancel_stops_and_confirms(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    await start_pilot()
    mark = root.parent / "mark"
    task_ = task(root, waiting_tool(mark, Gate(root.parent / "go")))
    wms.add(task_, jobs_of(root, task_, 1))
    await until(mark.exists)
    await until(
        lambda: any(
            job.phase is AttemptPhase.RUN
            for heartbeat in wms.heartbeats
            for job in heartbeat.running
        )
    )
    wms.commands = [Command(kind="cancel", job=JobToken(id=1, attempt=1))]
    await until(lambda: wms.reports)
    assert wms.reports[0][1].outcome is AttemptOutcome.CANCELED
    assert not alive(int(mark.read_text()))
    await until(lambda: not wms.commands)


async def test_sigterm_finishes_what_runs_and_takes_nothing_more(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    pilot = await start_pilot()
    mark, go = root.parent / "mark", Gate(root.parent / "go")
    task_ = task(root, waiting_tool(mark, go))
    wms.add(task_, jobs_of(root, task_, 1))
    await until(mark.exists)
    pilot.process.terminate()
    beats = len(wms.heartbeats)
    await until(lambda: len(wms.heartbeats) > beats + 1)
    wms.add(task_, jobs_of(root, task_, 5)[1:])
    go.open()
    assert await pilot.ended() == 0
    assert [(report.id, report.outcome) for _, report in wms.reports] == [
        (1, AttemptOutcome.FINISHED)
    ]
    assert len(wms.signed_off) == 1


async def test_second_sigterm_gives_the_running_job_back(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    pilot = await start_pilot()
    mark = root.parent / "mark"
    task_ = task(root, waiting_tool(mark, Gate(root.parent / "go")))
    wms.add(task_, jobs_of(root, task_, 1))
    await until(mark.exists)
    pilot.process.terminate()
    await until(lambda: pilot.has_said("pilot.drain"))
    pilot.process.terminate()
    assert await pilot.ended() == 0
    assert wms.reports == []
    assert wms.signed_off[0][1].returned == [JobToken(id=1, attempt=1)]
    assert not alive(int(mark.read_text()))
    assert files_below(root / "out") == files_below(root / "logs") == []


async def test_drain_timeout(wms: ScriptedWms, start_pilot: StartPilot, root: Path) -> None:
    pilot = await start_pilot("--drain-timeout", "0.5")
    mark = root.parent / "mark"
    task_ = task(root, waiting_tool(mark, Gate(root.parent / "go")))
    wms.add(task_, jobs_of(root, task_, 1))
    await until(mark.exists)
    pilot.process.terminate()
    assert await pilot.ended() == 0
    assert wms.signed_off[0][1].returned == [JobToken(id=1, attempt=1)]


async def test_the_wms_drains_the_pilot(wms: ScriptedWms, start_pilot: StartPilot) -> None:
    pilot = await start_pilot()
    wms.drain = True
    assert await pilot.ended() == 0
    assert len(wms.signed_off) == 1


async def test_sigkill_leaves_no_process_and_the_next_pilot_says_what_was_lost(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    """Invariant 7."""
    pilot = await start_pilot()
    mark = root.parent / "mark"
    task_ = task(root, waiting_tool(mark, Gate(root.parent / "go")))
    first = task(root, SHA)
    wms.add(first, [job(first, [input_file(root / "warm" / "w.dat")], job_id=90)])
    await until(lambda: wms.reports)
    wms.reports.clear()
    wms.add(task_, jobs_of(root, task_, 4))
    await until(mark.exists)
    await until(lambda: len(wms.leased) == 5)
    await until(lambda: any(len(beat.waiting) == 3 for beat in wms.heartbeats))
    family = [process.pid for process in pilot.family()]
    assert int(mark.read_text()) in family
    pilot.process.kill()
    await until(lambda: not any(alive(pid) for pid in family))
    await start_pilot()
    await until(lambda: wms.signed_off)
    ((uid, report),) = wms.reports
    assert uid == wms.registered[0].uid
    assert (report.id, report.error_class) == (1, ErrorClass.PILOT_LOST)
    assert wms.signed_off[0][1].returned == [JobToken(id=number, attempt=1) for number in (2, 3, 4)]
    assert files_below(root / "out") == ["00000000.1-w.out"]


def memory_group(folder: Path) -> str | None:
    (run,) = (folder / "runs").iterdir()
    noted = RunFolder(run).memory_group()
    assert noted is None or Path(noted).is_dir()
    return noted


async def test_a_killed_pilots_memory_group_is_removed_from_elsewhere(
    start_pilot: StartPilot, tmp_path: Path
) -> None:
    pilot = await start_pilot()
    noted = memory_group(tmp_path / "work" / "node-1")
    if noted is None:
        pytest.skip(
            "no control group for memory can be made here: no delegated one, and no right to"
            " make one"
        )
    left, elsewhere = Path(noted), Path(noted).with_name(f"elsewhere-{uuid.uuid4()}")
    family = [process.pid for process in pilot.family()]
    pilot.process.kill()
    await until(lambda: not any(alive(pid) for pid in family))
    enter = ["sh", "-c", 'mkdir "$0" && echo $$ > "$0/cgroup.procs" && exec "$@"', str(elsewhere)]
    other = await start_pilot(before=enter)
    await until(lambda: not left.exists())
    other.process.terminate()
    assert await other.ended() == 0
    elsewhere.rmdir()


async def test_a_slot_that_dies_is_replaced_and_its_tool_ended(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    pilot = await start_pilot()
    mark = root.parent / "mark"
    task_ = task(root, waiting_tool(mark, Gate(root.parent / "go")))
    wms.add(task_, jobs_of(root, task_, 1))
    await until(mark.exists)
    tool_pid = int(mark.read_text())
    slot = psutil.Process(tool_pid).parent()
    assert slot is not None
    slot.kill()
    await until(lambda: wms.reports)
    assert wms.reports[0][1].error_class is ErrorClass.INTERNAL
    await until(lambda: not alive(tool_pid))
    other = task(root, SHA)
    wms.add(other, [job(other, [input_file(root / "in" / "b.dat")], job_id=9)])
    await until(lambda: wms.report_of(9) is not None)
    assert pilot.process.returncode is None


async def test_wrong_settings_are_named(start_pilot: StartPilot) -> None:
    pilot = await start_pilot("--slots", "0", wait=False)
    assert await pilot.ended() == 2
