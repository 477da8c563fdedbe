"""The pilot as a process: a job goes on where a killed one was, and what was kept for it goes when
the WMS says that it has ended."""

import signal
from pathlib import Path

import pytest

from sluice.contracts.checkpoints import Checkpoint
from sluice.contracts.pilots import AttemptReport, Command, JobToken, LeasedJob, PilotTask
from sluice.contracts.states import AttemptOutcome, ReportAnswer
from tests.integration.pilot_process import StartPilot, files_below, jobs_of, root, start_pilot, wms
from tests.servers.scripted_wms import ScriptedWms, until
from tests.unit.pilot.builders import task, tool

__all__ = ["root", "start_pilot", "wms"]  # fixtures

#: Its number, whole at each moment; ends as $0 says once it was begun so often, else it goes on for
#: ever.
COUNT = """
mkdir -p state
n=$(( $(cat state/n 2>/dev/null || echo 0) + 1 ))
echo $n > new && mv new state/n
[ $n -lt $1 ] && exec sleep 3600
echo $n
exit $0
"""


def counting(root: Path, *, times: int, ends: int = 0, every: float = 1) -> PilotTask:
    return task(
        root,
        tool(["sh", "-c", COUNT, str(ends), str(times)]),
        checkpoint=Checkpoint(files=["state/*"], every=every),
    )


def kept(root: Path) -> list[str]:
    return [name for name in files_below(root / "logs") if "checkpoint" in name]


def again(wms: ScriptedWms, task_: PilotTask, job: LeasedJob, attempt: int) -> None:
    wms.add(task_, [job.model_copy(update={"attempt": attempt})])


async def end_of(wms: ScriptedWms, attempt: int) -> AttemptReport:
    def found() -> AttemptReport | None:
        return next((one for _, one in wms.reports if one.attempt == attempt), None)

    await until(found, seconds=60)
    report = found()
    assert report is not None
    return report


@pytest.mark.parametrize(
    ("ends", "outcome"), [(0, AttemptOutcome.FINISHED), (3, AttemptOutcome.FAILED)]
)
async def test_after_a_kill_it_goes_on_and_at_the_end_nothing_is_left(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path, ends: int, outcome: AttemptOutcome
) -> None:
    pilot = await start_pilot()
    task_ = counting(root, times=2, ends=ends)
    (job,) = jobs_of(root, task_, 1)
    wms.add(task_, [job])
    await until(lambda: any("list" in name for name in kept(root)), seconds=60)
    pilot.process.kill()
    await pilot.ended()
    await start_pilot()
    await end_of(wms, 1)  # as lost
    assert kept(root), "what was kept outlives the pilot, and its successor"
    wms.ended = lambda report: report.attempt == 2
    again(wms, task_, job, 2)
    report = await end_of(wms, 2)
    assert report.outcome is outcome
    assert "went on from the checkpoint of" in report.message
    assert report.checkpoint
    await until(lambda: not kept(root))
    assert any(name.endswith(".2.log") for name in files_below(root / "logs"))


async def test_what_may_be_tried_again_is_kept_until_the_job_has_ended(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    wms.ended = lambda report: report.attempt == 2
    await start_pilot()
    task_ = counting(root, times=1, ends=3, every=3600)
    (job,) = jobs_of(root, task_, 1)
    wms.add(task_, [job])
    await end_of(wms, 1)
    assert len(kept(root)) == 2
    again(wms, task_, job, 2)
    assert "went on from" in (await end_of(wms, 2)).message
    await until(lambda: not kept(root))


async def test_a_canceled_job_leaves_nothing(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    """Whether its report is accepted or late."""
    wms.answer = lambda _: ReportAnswer.STALE
    wms.ended = lambda _: True
    await start_pilot()
    task_ = counting(root, times=2)
    (job,) = jobs_of(root, task_, 1)
    wms.add(task_, [job])
    await until(lambda: any("list" in name for name in kept(root)), seconds=60)
    wms.commands = [Command(kind="cancel", job=JobToken(id=job.id, attempt=1))]
    assert (await end_of(wms, 1)).outcome is AttemptOutcome.CANCELED
    await until(lambda: files_below(root / "logs") == [])


async def test_a_pilot_that_has_to_end_leaves_the_newest_for_the_next(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    pilot = await start_pilot(SLUICE_PILOT_DRAIN_TIMEOUT="0")
    task_ = counting(root, times=2, every=3600)
    (job,) = jobs_of(root, task_, 1)
    wms.add(task_, [job])
    await until(lambda: any(beat.running for beat in wms.heartbeats))
    await until(lambda: pilot.family() and list(root.parent.glob("work/**/state/n")))
    pilot.process.send_signal(signal.SIGTERM)
    assert await pilot.ended() == 0
    assert len(kept(root)) == 2
    await start_pilot()
    again(wms, task_, job, 2)
    assert "(attempt 1), 1 file, 2 bytes" in (await end_of(wms, 2)).message
