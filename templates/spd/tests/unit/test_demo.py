"""Options of the demonstration, and the disk space that it requests."""

from pathlib import Path

import pytest
from spd import demo
from spd.demo_run import MIN_FRAMES_WITH_DAMAGE

from tests.unit.cwl.samples import compile_plan


@pytest.mark.parametrize(
    ("frames", "damaged"),
    [(1, []), (MIN_FRAMES_WITH_DAMAGE - 1, []), (10, [10]), (16, [16]), (17, [17]), (60, [17])],
)
def test_run_has_a_damaged_frame_only_if_it_can_still_succeed(
    frames: int, damaged: list[int]
) -> None:
    planned = [plan.damaged_frame(frames) for plan in demo.RUNS]
    assert [frame for frame in planned if frame is not None] == damaged
    assert frames - len(damaged) >= 0.9 * frames


@pytest.mark.parametrize("frames", ["0", "-3", "many"])
def test_impossible_number_of_frames_is_refused_before_anything_starts(
    frames: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        demo.main(["--home", str(tmp_path / "demo"), "--frames", frames])
    assert "argument --frames: " in capsys.readouterr().err
    assert not (tmp_path / "demo").exists()


def test_jobs_of_the_demonstration_request_little_disk() -> None:
    """A file system of 500 MB leaves 300 MB for jobs beside the databases and files."""
    text = (Path(__file__).parents[2] / "workflow.cwl").read_text()
    disk_by_step = {
        step.name: step.needs.resources.counted_disk for step in compile_plan(text).steps
    }
    assert max(disk_by_step.values()) <= 256, disk_by_step
