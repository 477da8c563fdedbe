"""Tests of how jobs are stopped together with all processes that they started."""

import os
import signal
import sys
import uuid
from pathlib import Path

import pytest

from pilot.boot_clock import boot_time
from pilot.domain.model import Progress, StopReason
from pilot.reports.journal import read_journals
from pilot.runner.progress_file import read_slot_progress
from sluice.contracts.common.states import AttemptOutcome, AttemptPhase, ErrorClass
from sluice.contracts.jobs.needs import Resources
from tests.processes import list_running_with
from tests.unit.pilot.attempts import make_python_tool, read_log
from tests.unit.pilot.builders import SHA, make_job, make_task, make_tool, write_input
from tests.unit.pilot.inner_workflows import wrap_in_workflow
from tests.unit.pilot.job_pipes import make_waiting_code, release_tool, wait_for
from tests.unit.pilot.slot_runner import Runner, has_ended
from tests.waiting import wait_until

#: Starts a child in a new session, with the same word in its command line, and waits. Both ignore
#: SIGTERM.
_FAMILY = """
import signal, subprocess, sys
stubborn = 'import signal; signal.signal(15, signal.SIG_IGN); print(flush=True); signal.pause()'
command = [sys.executable, '-c', stubborn, sys.argv[1]]
child = subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE)
child.stdout.readline()
signal.signal(signal.SIGTERM, signal.SIG_IGN)
"""


def make_family_tool(word: str) -> dict[str, object]:
    return make_tool([sys.executable, "-c"], arguments=[_FAMILY + make_waiting_code("gate"), word])


def list_pids(runner: Runner, word: str) -> list[int]:
    wait_for(runner, "gate")
    pids = list_running_with(word)
    assert len(pids) == 2
    return pids


@pytest.fixture
def word() -> str:
    return str(uuid.uuid4())


def test_time_limit_kills_a_trapped_tool_and_its_grandchildren(
    runner: Runner, root: Path, word: str
) -> None:
    task_ = make_task(root, make_family_tool(word), resources=Resources(time_limit=2.0))
    runner.submit(task_, make_job(task_, [write_input(root / "in" / "a.dat")], job_id=1))
    alive = list_pids(runner, word)
    assert runner.wait_for_end().report.error_class is ErrorClass.TOOL_TIMEOUT
    assert all(has_ended(pid) for pid in alive)


def test_tool_that_obeys_sigterm_ends_before_the_grace_period(root: Path) -> None:
    """A tool in an inner workflow is run by another process that waits for it."""
    runner = Runner(root.parent / "pilot", grace=600.0)
    for number, executable in enumerate(
        (make_tool(["sleep", "600"]), wrap_in_workflow(make_tool(["sleep", "600"])))
    ):
        task_ = make_task(root, executable, resources=Resources(time_limit=2.0))
        report = runner.attempt(
            task_, make_job(task_, [write_input(root / "in" / "a.dat")], job_id=20 + number)
        )
        assert (report.error_class, report.exit_code) == (ErrorClass.TOOL_TIMEOUT, -signal.SIGTERM)
    runner.close()


def test_slot_records_the_phase_of_its_job(runner: Runner, root: Path) -> None:
    task_ = make_task(root, make_python_tool(make_waiting_code("on") + "print('12')"))
    note = runner.run.phase_file(runner.slot_pid)
    runner.submit(
        task_, make_job(task_, [write_input(root / "in" / "a.dat")], job_id=41, attempt=3)
    )
    wait_for(runner, "on")
    assert read_slot_progress(note) == ((41, 3), Progress(AttemptPhase.RUN))
    release_tool(runner, "on")
    assert runner.wait_for_end().report.outcome is AttemptOutcome.FINISHED
    assert read_slot_progress(note) == ((41, 3), Progress(AttemptPhase.STAGE_OUT, 3))
    assert read_slot_progress(note.with_name("none")) is None


def test_slot_and_server_ignore_sigterm_and_sigint(runner: Runner, root: Path) -> None:
    task_ = make_task(root, make_python_tool(make_waiting_code("go")))
    runner.submit(task_, make_job(task_, [write_input(root / "in" / "a.dat")], job_id=22))
    wait_for(runner, "go")
    for number in (signal.SIGTERM, signal.SIGINT):
        for pid in (runner.slot_pid, runner.server.pid):
            os.kill(pid, number)
    release_tool(runner, "go")
    assert runner.wait_for_end().report.outcome is AttemptOutcome.FINISHED
    runner.connection.close()
    runner.open_slot()


def test_grandchildren_do_not_outlive_a_tool_that_succeeds(
    runner: Runner, root: Path, word: str
) -> None:
    task_ = make_task(root, make_family_tool(word))
    runner.submit(task_, make_job(task_, [write_input(root / "in" / "a.dat")], job_id=2))
    alive = list_pids(runner, word)
    release_tool(runner, "gate")
    assert runner.wait_for_end().report.outcome is AttemptOutcome.FINISHED
    assert all(has_ended(pid) for pid in alive)


@pytest.mark.parametrize(
    ("reason", "outcome", "error_class"),
    [
        (StopReason.CANCEL, AttemptOutcome.CANCELED, ErrorClass.CANCELED),
        (StopReason.LEASE, AttemptOutcome.FAILED, ErrorClass.PILOT_LOST),
        (StopReason.ABANDON, AttemptOutcome.RETURNED, None),
        (StopReason.SHUTDOWN, AttemptOutcome.RETURNED, None),
    ],
)
def test_stopped_job_ends_with_its_processes_and_the_outcome_of_the_reason(
    runner: Runner,
    root: Path,
    word: str,
    reason: StopReason,
    outcome: AttemptOutcome,
    error_class: ErrorClass | None,
) -> None:
    task_ = make_task(root, make_family_tool(word))
    running = make_job(task_, [write_input(root / "in" / "a.dat")], job_id=3)
    runner.submit(task_, running)
    alive = list_pids(runner, word)
    runner.stop_job(running, reason)
    frame = runner.wait_for_end()
    assert (frame.report.outcome, frame.report.error_class) == (outcome, error_class)
    assert all(has_ended(pid) for pid in alive)
    has_journal = (3, 1) in read_journals(runner.run.journals)
    assert has_journal is (frame.journal is not None) is (outcome is not AttemptOutcome.RETURNED)
    assert (root / "logs").exists() is has_journal


def test_canceled_tool_can_clean_up_after_sigterm(runner: Runner, root: Path) -> None:
    code = (
        "import os, signal, sys\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])\n"
        "os.mkfifo('gate')\n"
        "signal.sigwait([signal.SIGTERM])\n"
        "print('tidied', 'up', file=sys.stderr)\n"
    )
    task_ = make_task(root, make_python_tool(code))
    running = make_job(task_, [write_input(root / "in" / "a.dat")], job_id=4)
    runner.submit(task_, running)
    wait_for(runner, "gate")
    runner.stop_job(running, StopReason.CANCEL)
    report = runner.wait_for_end().report
    assert report.outcome is AttemptOutcome.CANCELED
    assert "tidied up" in read_log(report)


def test_stopped_job_in_the_queue_is_canceled_and_the_running_job_finishes(
    runner: Runner, root: Path
) -> None:
    slow = make_task(root, make_python_tool(make_waiting_code("go")))
    first = make_job(slow, [write_input(root / "in" / "a.dat")], job_id=5)
    second = make_job(slow, [write_input(root / "in" / "b.dat")], job_id=6)
    runner.submit(slow, first, second)
    wait_for(runner, "go")
    runner.stop_job(second, StopReason.CANCEL)
    release_tool(runner, "go")
    reports = [runner.wait_for_end().report, runner.wait_for_end().report]
    assert [(report.id, report.outcome) for report in reports] == [
        (5, AttemptOutcome.FINISHED),
        (6, AttemptOutcome.CANCELED),
    ]


def test_job_ends_with_its_lease_if_the_pilot_does_not_renew_it(
    runner: Runner, root: Path, word: str
) -> None:
    task_ = make_task(root, make_family_tool(word))
    running = make_job(task_, [write_input(root / "in" / "a.dat")], job_id=3)
    runner.submit(task_, running, deadline=boot_time() + 3600)
    alive = list_pids(runner, word)
    runner.renew(running, boot_time() + 0.2)
    report = runner.wait_for_end().report
    assert (report.outcome, report.error_class) == (AttemptOutcome.FAILED, ErrorClass.PILOT_LOST)
    assert all(has_ended(pid) for pid in alive)


def test_job_with_a_renewed_lease_runs_to_its_end(runner: Runner, root: Path) -> None:
    slow = make_task(root, make_python_tool(make_waiting_code("go")))
    first = make_job(slow, [write_input(root / "in" / "a.dat")], job_id=5)
    second = make_job(slow, [write_input(root / "in" / "b.dat")], job_id=6)
    runner.submit(slow, first, second, deadline=boot_time() + 3600)
    wait_for(runner, "go")
    end = boot_time() + 1.0
    for leased_job in (first, second):
        runner.renew(leased_job, end)
    runner.renew(first, boot_time() + 3600)
    wait_until(lambda: boot_time() > end)
    release_tool(runner, "go")
    reports = [runner.wait_for_end().report, runner.wait_for_end().report]
    assert [(report.id, report.outcome, report.error_class) for report in reports] == [
        (5, AttemptOutcome.FINISHED, None),
        (6, AttemptOutcome.FAILED, ErrorClass.PILOT_LOST),
    ]


def test_stop_of_an_unknown_job_is_ignored(runner: Runner, root: Path) -> None:
    task_ = make_task(root, SHA)
    stopped_job = make_job(task_, [write_input(root / "in" / "a.dat")], job_id=7)
    runner.stop_job(stopped_job, StopReason.CANCEL)
    assert runner.attempt(task_, stopped_job).outcome is AttemptOutcome.FINISHED


def test_all_processes_end_when_the_pilot_is_gone(root: Path, word: str) -> None:
    runner = Runner(root.parent / "pilot")
    task_ = make_task(root, make_family_tool(word))
    runner.submit(task_, make_job(task_, [write_input(root / "in" / "a.dat")], job_id=8))
    alive = list_pids(runner, word)
    runner.close_connections()
    wait_until(lambda: all(has_ended(pid) for pid in [*alive, runner.slot_pid]))
    assert runner.server.wait(20) == 0
    trace = read_journals(runner.run.journals)[(8, 1)]
    assert trace.report is None


def test_slot_server_replaces_a_slot_that_was_killed(root: Path) -> None:
    runner = Runner(root.parent / "pilot")
    os.kill(runner.slot_pid, signal.SIGKILL)
    assert runner.connection.recv(1) == b""
    runner.connection.close()
    runner.open_slot()
    task_ = make_task(root, SHA)
    assert (
        runner.attempt(task_, make_job(task_, [write_input(root / "in" / "a.dat")])).outcome
        is AttemptOutcome.FINISHED
    )
    runner.close()
