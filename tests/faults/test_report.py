"""The report of a run."""

import json
from pathlib import Path

import pytest

from tests.faults.checker.checks import Finding
from tests.faults.checker.snapshot import Row
from tests.faults.injector import InjectedFault
from tests.faults.progress import Progress
from tests.faults.report import Report, compute_recoveries, count_duplicates
from tests.faults.schedule import Fault, Kind


def make_fault(at: float, *, failed: str = "") -> InjectedFault:
    fault = Fault(number=1, kind=Kind.KILL, target="wms/0", at=at, seconds=0.0)
    return InjectedFault(fault, began=at, ended=at + 1.0, what="SIGKILL to wms-1", failed=failed)


@pytest.fixture
def progress() -> Progress:
    return Progress({}, changes=[0.0, 1.0, 5.5, 6.0])


def make_report(progress: Progress, *faults: InjectedFault, findings: list[Finding]) -> Report:
    return Report(
        seed=3,
        injected=faults,
        recoveries=compute_recoveries(faults, progress),
        stall=progress.find_longest_pause(),
        work_seconds=6.0,
        rest_seconds=2.0,
        jobs=7,
        feeder_repeats=0,
        outcomes={"finished": 7, "lost": 1},
        errors={"pilot_lost": 1},
        failures=["job 7, attempt 2: decode ended with exit code 1"],
        duplicates={},
        jobs_of_sites={"guest": 2},
        restarts={},
        findings=findings,
    )


def test_recovery_time_ends_at_the_next_progress(progress: Progress) -> None:
    assert compute_recoveries([make_fault(0.5), make_fault(2.0), make_fault(7.0)], progress) == [
        0.5,
        3.5,
        None,
    ]
    assert progress.find_longest_pause() == (1.0, 4.5)


def test_report_names_seed_faults_and_findings(progress: Progress, tmp_path: Path) -> None:
    summary = make_report(
        progress, make_fault(2.0), findings=[Finding("no dark files", "/a is dark")]
    )
    text = "\n".join(summary.format_lines())
    assert not summary.is_good
    for part in (
        "seed 3: 1 faults",
        "SIGKILL to wms-1; progress after 3.50 s",
        "longest stall: 4.50 s",
        "failed: job 7, attempt 2: decode ended",
        "finished by pilots of sites: guest 2",
        "FOUND: no dark files",
    ):
        assert part in text
    summary.write(tmp_path / "var" / "report.json")
    stored_report = json.loads((tmp_path / "var" / "report.json").read_text())
    assert stored_report["seed"] == 3
    assert stored_report["injected"][0]["fault"]["kind"] == "kill"
    assert stored_report["findings"] == [{"check": "no dark files", "what": "/a is dark"}]


def test_impossible_fault_makes_the_run_fail(progress: Progress) -> None:
    assert make_report(progress, make_fault(2.0), findings=[]).is_good
    assert not make_report(
        progress, make_fault(2.0, failed="wms/0 did not run"), findings=[]
    ).is_good


def test_duplicate_attempts_are_those_that_began_while_another_ran() -> None:
    def make_attempt(job: int, number: int, outcome: str, *times: float) -> Row:
        began, ended = times
        return {
            **{"job_id": job, "attempt": number, "outcome": outcome},
            **{"leased_at": began, "ended_at": ended},
        }

    attempts = [
        make_attempt(1, 1, "canceled", 0, 9), make_attempt(1, 2, "finished", 5, 8),
        make_attempt(2, 1, "failed", 0, 4), make_attempt(2, 2, "finished", 5, 8),
        make_attempt(3, 1, "finished", 0, 9), make_attempt(3, 2, "lost", 5, 6),
        make_attempt(3, 3, "canceled", 7, 9),
    ]  # fmt: skip
    assert count_duplicates(attempts) == {"finished": 1, "lost": 1, "canceled": 1}
