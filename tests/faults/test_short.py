"""The short run of the suite: twenty faults while a stack does a small amount of work."""

import shutil
from pathlib import Path

import pytest

from sluice.contracts.common.states import AttemptOutcome
from tests.faults.campaign import Size, run_campaign
from tests.faults.schedule import Kind
from tests.faults.workload.work import Plan

pytestmark = [
    pytest.mark.xdist_group("faults"),
    pytest.mark.timeout(1200),
    pytest.mark.long(
        "each kind of fault has its own tests; tests/e2e/packs/test_spd.py kills all processes"
    ),
]

#: Folder of the report and of the logs of a failed run.
REPORT_FOLDER = Path(__file__).resolve().parents[2] / "var" / "faults"

FAULTS, SPACING = 20, 2.0
SIZE = Size(
    plan=Plan(
        files=200,
        stream=4,
        stream_files=10,
        frames=10,
        seconds=0.9 * FAULTS * SPACING,
        pause=2.5,
        slow=1,
        looks=3,
        stamps=4,
        stamp_files=10,
        stamp_pause=2.0,
        stamp_seconds=FAULTS * SPACING,
    ),
    faults=FAULTS,
    spacing=SPACING,
    # Twice the time of a slow machine; what is not done by then is reported as missing.
    work_limit=480.0,
    rest_limit=120.0,
)


def test_run_with_twenty_faults_loses_and_duplicates_nothing(short_folder: Path) -> None:
    """Invariant 7, and with it all the others."""
    report = run_campaign(short_folder, SIZE, seed=1)
    report.write(REPORT_FOLDER / "short.json")
    print("\n".join(report.format_lines()))
    if not report.is_good:
        shutil.copytree(
            short_folder / "stack" / "logs", REPORT_FOLDER / "short-logs", dirs_exist_ok=True
        )
    assert report.findings == []
    assert report.list_failed_faults == []
    assert {one.fault.kind for one in report.injected} == set(Kind)
    assert report.duplicates, "no job had a duplicate attempt"
    assert report.outcomes[AttemptOutcome.FINISHED] == report.jobs - 1, (
        "all jobs but that of the damaged frame finish"
    )
