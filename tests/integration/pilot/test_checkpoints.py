"""A job resumes from the checkpoint of a killed attempt. Checkpoints go when the job has ended."""

import signal
from pathlib import Path

import pytest

from sluice.contracts.common.states import AttemptOutcome, ReportAnswer
from sluice.contracts.jobs.checkpoints import Checkpoint
from sluice.contracts.pilots.heartbeats import Command
from sluice.contracts.pilots.leases import JobToken, LeasedJob, PilotTask
from sluice.contracts.pilots.reports import AttemptReport
from tests.integration.pilot.pilot_process import (
    StartPilot,
    list_files_below,
    make_jobs,
)
from tests.servers.scripted_wms import ScriptedWms, wait_for
from tests.unit.pilot.builders import make_task, make_tool

#: Increments its counter atomically. Sleeps while the counter is below $1, then exits with $0.
COUNT = """
mkdir -p state
n=$(( $(cat state/n 2>/dev/null || echo 0) + 1 ))
echo $n > new && mv new state/n
[ $n -lt $1 ] && exec sleep 3600
echo $n
exit $0
"""


def make_counting_task(root: Path, *, times: int, ends: int = 0, every: float = 1) -> PilotTask:
    return make_task(
        root,
        make_tool(["sh", "-c", COUNT, str(ends), str(times)]),
        checkpoint=Checkpoint(files=["state/*"], every=every),
    )


def list_checkpoint_files(root: Path) -> list[str]:
    return [name for name in list_files_below(root / "logs") if "checkpoint" in name]


def lease_again(wms: ScriptedWms, task_: PilotTask, job: LeasedJob, attempt: int) -> None:
    wms.add_jobs(task_, [job.model_copy(update={"attempt": attempt})])


async def end_of(wms: ScriptedWms, attempt: int) -> AttemptReport:
    def find_report() -> AttemptReport | None:
        return next((one for _, one in wms.reports if one.attempt == attempt), None)

    await wait_for(find_report, seconds=60)
    report = find_report()
    assert report is not None
    return report


@pytest.mark.parametrize(
    ("ends", "outcome"), [(0, AttemptOutcome.FINISHED), (3, AttemptOutcome.FAILED)]
)
async def test_job_resumes_after_a_kill_and_leaves_no_checkpoint_at_the_end(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path, ends: int, outcome: AttemptOutcome
) -> None:
    pilot = await start_pilot()
    task_ = make_counting_task(root, times=2, ends=ends)
    (job,) = make_jobs(root, task_, 1)
    wms.add_jobs(task_, [job])
    await wait_for(lambda: any("list" in name for name in list_checkpoint_files(root)), seconds=60)
    pilot.process.kill()
    await pilot.ended()
    await start_pilot()
    await end_of(wms, 1)  # reported as lost
    assert list_checkpoint_files(root), "the checkpoint did not survive the pilot and its successor"
    wms.ended = lambda report: report.attempt == 2
    lease_again(wms, task_, job, 2)
    report = await end_of(wms, 2)
    assert report.outcome is outcome
    assert "resumed from the checkpoint of" in report.message
    assert report.checkpoint
    await wait_for(lambda: not list_checkpoint_files(root))
    assert any(name.endswith(".2.log") for name in list_files_below(root / "logs"))


async def test_checkpoint_of_a_failed_attempt_is_kept_until_the_job_has_ended(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    wms.ended = lambda report: report.attempt == 2
    await start_pilot()
    task_ = make_counting_task(root, times=1, ends=3, every=3600)
    (job,) = make_jobs(root, task_, 1)
    wms.add_jobs(task_, [job])
    await end_of(wms, 1)
    assert len(list_checkpoint_files(root)) == 2
    lease_again(wms, task_, job, 2)
    assert "resumed from" in (await end_of(wms, 2)).message
    await wait_for(lambda: not list_checkpoint_files(root))


async def test_canceled_job_leaves_no_files(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    """The answer to the report may also be ``stale``."""
    wms.answer = lambda _: ReportAnswer.STALE
    wms.ended = lambda _: True
    await start_pilot()
    task_ = make_counting_task(root, times=2)
    (job,) = make_jobs(root, task_, 1)
    wms.add_jobs(task_, [job])
    await wait_for(lambda: any("list" in name for name in list_checkpoint_files(root)), seconds=60)
    wms.commands = [Command(kind="cancel", job=JobToken(id=job.id, attempt=1))]
    assert (await end_of(wms, 1)).outcome is AttemptOutcome.CANCELED
    await wait_for(lambda: list_files_below(root / "logs") == [])


async def test_stopped_pilot_leaves_the_newest_checkpoint_for_the_next_attempt(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    pilot = await start_pilot(SLUICE_PILOT_DRAIN_TIMEOUT="0")
    task_ = make_counting_task(root, times=2, every=3600)
    (job,) = make_jobs(root, task_, 1)
    wms.add_jobs(task_, [job])
    await wait_for(lambda: any(beat.running for beat in wms.heartbeats))
    await wait_for(lambda: pilot.family() and list(root.parent.glob("work/**/state/n")))
    pilot.process.send_signal(signal.SIGTERM)
    assert await pilot.ended() == 0
    assert len(list_checkpoint_files(root)) == 2
    await start_pilot()
    lease_again(wms, task_, job, 2)
    assert "(attempt 1), 1 file, 2 bytes" in (await end_of(wms, 2)).message
