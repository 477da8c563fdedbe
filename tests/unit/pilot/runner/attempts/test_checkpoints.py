"""Tests that a job that is killed resumes from its checkpoint, with each kind of isolation."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pilot.domain.model import StopReason
from sluice.contracts.common.states import AttemptOutcome
from sluice.contracts.jobs.checkpoints import Checkpoint
from sluice.contracts.jobs.needs import Warm
from sluice.contracts.pilots.leases import PilotTask
from sluice.contracts.pilots.reports import AttemptReport
from tests.unit.pilot import slot_users
from tests.unit.pilot.attempts import make_python_tool, read_log, run
from tests.unit.pilot.builders import TOOL_PYTHON, make_job, make_task, make_tool, write_input
from tests.unit.pilot.isolation import ISOLATION_PARAMETERS, start_isolated_slot
from tests.unit.pilot.job_pipes import make_waiting_code, release_tool, wait_for
from tests.unit.pilot.runner.attempts.warm_jobs import OBEYS, read_output
from tests.unit.pilot.slot_runner import Runner
from tests.waiting import wait_until

#: Counts its starts in a file that it replaces by rename. It waits and fails until the third start.
COUNT = f"""
import os
os.makedirs('state', exist_ok=True)
n = int(open('state/n').read()) + 1 if os.path.exists('state/n') else 1
with open('state/new', 'w') as file:
    file.write(str(n))
os.replace('state/new', 'state/n')
print('begun', n, 'times')
if n == 3:
    raise SystemExit(0)
{make_waiting_code("gate")}
raise SystemExit(3)
"""


def make_counting_task(root: Path, *, every: float = 1) -> PilotTask:
    return make_task(
        root, make_python_tool(COUNT), checkpoint=Checkpoint(files=["state/n"], every=every)
    )


@pytest.fixture(params=ISOLATION_PARAMETERS)
def isolation(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a folder that the user of a slot can enter."""
    with slot_users.open_folder() as folder:
        yield folder


def is_listed(root: Path, attempt: int) -> bool:
    return (root / "logs" / f"00000000.{attempt}-checkpoint-list.0.json").exists()


def test_killed_job_resumes_from_its_checkpoint(folder: Path, isolation: str) -> None:
    root = folder / "store"
    task_ = make_counting_task(root)
    file = write_input(root / "in" / "a.dat")
    # The slot and its pilot are killed while the tool runs.
    killed = start_isolated_slot(isolation, folder / "first")
    killed.submit(task_, make_job(task_, [file]))
    wait_until(lambda: is_listed(root, 1), what="a checkpoint is kept")
    killed.close()
    # The tool fails by itself: its final state is kept.
    second = start_isolated_slot(isolation, folder / "second")
    second.submit(task_, make_job(task_, [file], attempt=2))
    release_tool(second, "gate")
    failed = second.wait_for_end().report
    assert (failed.outcome, failed.exit_code) == (AttemptOutcome.FAILED, 3)
    assert "resumed from the checkpoint of" in failed.message
    assert "its last checkpoint is of" in read_log(failed)
    report = second.attempt(task_, make_job(task_, [file], attempt=3))
    second.close()
    assert report.outcome is AttemptOutcome.FINISHED
    assert Path(report.outputs[0].url.removeprefix("file://")).read_text() == "begun 3 times\n"
    assert "(attempt 2), 1 file, 1 bytes" in read_log(report)
    assert report.message.startswith("resumed from the checkpoint of")
    assert report.checkpoint


@pytest.mark.parametrize(
    ("reason", "is_kept"),
    [
        (StopReason.SHUTDOWN, True),
        (StopReason.LEASE, True),
        (StopReason.CANCEL, False),
        (StopReason.ABANDON, False),
    ],
)
def test_stopped_job_keeps_a_last_checkpoint_if_it_may_resume(
    runner: Runner, root: Path, reason: StopReason, *, is_kept: bool
) -> None:
    task_ = make_counting_task(root, every=3600)
    job_ = make_job(task_, [write_input(root / "in" / "a.dat")])
    runner.submit(task_, job_)
    wait_for(runner, "gate")
    runner.stop_job(job_, reason)
    report = runner.wait_for_end().report
    assert (is_listed(root, 1), report.checkpoint) == (is_kept, is_kept)


def test_warm_worker_resumes_from_a_checkpoint(folder: Path, isolation: str) -> None:
    """The worker has run another job in between."""
    root = folder / "store"
    runner = start_isolated_slot(isolation, folder / "pilot")
    task_ = make_task(
        root,
        make_tool([TOOL_PYTHON, "-c", OBEYS], arguments=["$(inputs.f.path)"]),
        warm=Warm(kind="a"),
        checkpoint=Checkpoint(files=["state/*"], every=3600),
    )

    def run_code(code: str, *, seq: int, attempt: int = 1) -> AttemptReport:
        file = write_input(root / "in" / f"{seq}-{attempt}.txt", data=code.encode())
        return run(runner, task_, [file], seq=seq, attempt=attempt)

    fails = "os.mkdir('state'); open('state/n', 'w').write('1'); result = 3"
    assert run_code(fails, seq=1).outcome is AttemptOutcome.FAILED
    other = run_code("print(os.path.exists('state'))", seq=2)
    continuing_code = "open('state/n', 'a').write('2'); print(open('state/n').read())"
    assert read_output(run_code(continuing_code, seq=1, attempt=2)) == "12"
    assert read_output(other) == "False"
    runner.close()
