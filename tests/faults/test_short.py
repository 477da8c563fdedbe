"""The short version of the suite: twenty faults while a small amount of work is carried
by a stack."""

import shutil
from pathlib import Path

import pytest

from sluice.contracts.states import AttemptOutcome
from tests.faults.campaign import Size, run_campaign
from tests.faults.schedule import Kind
from tests.faults.work import Plan

pytestmark = [
    pytest.mark.xdist_group("faults"),
    pytest.mark.long(
        "each kind of fault has tests of its own; tests/e2e/test_spd.py kills them all"
    ),
]

#: The report, and the logs of a run that went wrong.
KEPT = Path(__file__).resolve().parents[2] / "var" / "faults"

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
    work_limit=240.0,
    rest_limit=120.0,
)


def test_nothing_is_lost_and_nothing_comes_twice_whatever_fails(short_folder: Path) -> None:
    """Invariant 7, and with it all the others."""
    report = run_campaign(short_folder, SIZE, seed=1)
    report.write(KEPT / "short.json")
    print("\n".join(report.lines()))
    if not report.good:
        shutil.copytree(short_folder / "stack" / "logs", KEPT / "short-logs", dirs_exist_ok=True)
    assert report.findings == []
    assert report.failed == []
    assert {one.fault.kind for one in report.struck} == set(Kind)
    assert report.beside, "no job was begun by two pilots"
    assert report.outcomes[AttemptOutcome.FINISHED] == report.jobs - 1, (
        "all jobs but the one of the damaged frame"
    )
