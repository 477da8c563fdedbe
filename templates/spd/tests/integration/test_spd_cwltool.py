"""The workflow of the SPD pack gives exactly the true events under plain cwltool."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from spd import daq
from spd.report import read_events, summarise
from spd.truth import expected_events

pytestmark = pytest.mark.xdist_group("spd-cwltool")

WORKFLOW = Path(__file__).parents[2] / "workflow.cwl"
DAMAGED = 3


def run_cwltool(*arguments: str) -> subprocess.CompletedProcess[str]:
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["cwltool", *arguments],
        env={**os.environ, "PATH": programs},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def write_job(path: Path, frames: Sequence[Path], **parameters: object) -> str:
    files = [{"class": "File", "path": str(frame)} for frame in frames]
    path.write_text(json.dumps({"frames": files, **parameters}))
    return str(path)


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("spd-cwltool")
    options = ["--run", "1", "--frames", "7", "--seed", "21", "--damage", str(DAMAGED)]
    assert (
        daq.main([*options, "--out", str(folder / "frames"), "--truth", str(folder / "truth.json")])
        == 0
    )
    return folder


def test_workflow_validates_without_a_warning() -> None:
    result = run_cwltool("--validate", "--strict", str(WORKFLOW))
    assert result.returncode == 0, result.stderr
    assert "warning" not in result.stderr.lower()


def test_undamaged_frames_give_exactly_the_true_events(run_folder: Path, tmp_path: Path) -> None:
    frames = sorted((run_folder / "frames").glob("*.raw"))
    del frames[DAMAGED - 1]
    cuts = {"min_multiplicity": 3, "min_calorimeter_energy": 1000.0}
    job = write_job(tmp_path / "job.json", frames, run=1, period="2026-A", **cuts)
    result = run_cwltool("--outdir", str(tmp_path / "out"), str(WORKFLOW), job)
    assert result.returncode == 0, result.stderr
    assert "warning" not in result.stderr.lower()
    outputs = json.loads(result.stdout)
    root = Path(outputs["events"]["path"])
    assert root.name == "run000001-frame000001.root"
    expected = expected_events(
        run_folder / "truth.json", min_multiplicity=3, min_calorimeter_energy=1000.0
    )
    assert len(expected) > 50
    assert read_events([root]) == expected
    monitoring = json.loads(Path(outputs["monitoring"]["path"]).read_text())
    assert sum(frame["events_kept"] for frame in monitoring["frames"]) == len(expected)
    summary = summarise([root])
    assert (summary.frames, summary.runs, summary.periods) == (6, (1,), ("2026-A",))


def test_damaged_frame_fails_permanently_with_its_reason(run_folder: Path, tmp_path: Path) -> None:
    frame = run_folder / "frames" / f"run000001-frame{DAMAGED:06d}.raw"
    result = run_cwltool(
        "--outdir", str(tmp_path), str(WORKFLOW), write_job(tmp_path / "job.json", [frame])
    )
    assert result.returncode == 1
    assert "completed permanentFail" in result.stderr
    assert f"{frame.name}: wrong checksum" in result.stderr
