"""The demonstration with other numbers of frames, and the disk that it asks for."""

from pathlib import Path
from types import ModuleType

import pytest
from collage import demo as collage_demo
from masstimes import demo as masstimes_demo
from ocr import demo as ocr_demo
from spd import demo
from spd.demo_run import FEWEST_FRAMES_WITH_DAMAGE

from tests.architecture.sources import ROOT
from tests.unit.cwl.samples import plan_of


@pytest.mark.parametrize(
    ("frames", "damaged"),
    [(1, []), (FEWEST_FRAMES_WITH_DAMAGE - 1, []), (10, [10]), (16, [16]), (17, [17]), (60, [17])],
)
def test_at_most_one_frame_of_a_run_is_damaged_and_only_where_the_run_survives_it(
    frames: int, damaged: list[int]
) -> None:
    planned = [plan.damaged_frame(frames) for plan in demo.RUNS]
    assert [frame for frame in planned if frame is not None] == damaged
    assert frames - len(damaged) >= 0.9 * frames


@pytest.mark.parametrize("frames", ["0", "-3", "many"])
def test_number_of_frames_that_no_run_can_have_is_refused_before_anything_starts(
    frames: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        demo.main(["--home", str(tmp_path / "demo"), "--frames", frames])
    assert "argument --frames: " in capsys.readouterr().err
    assert not (tmp_path / "demo").exists()


def test_no_job_of_the_demonstration_asks_for_more_than_a_small_disk_has() -> None:
    """A home of 500 MB has 300 MB for jobs beside the databases and the files."""
    text = (ROOT / "templates" / "spd" / "workflow.cwl").read_text()
    asked = {step.name: step.needs.resources.counted_disk for step in plan_of(text).steps}
    assert max(asked.values()) <= 256, asked


@pytest.mark.parametrize("pack", [demo, ocr_demo, collage_demo, masstimes_demo])
def test_help_says_in_a_whole_sentence_what_the_demonstration_does(
    pack: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        pack.main(["--help"])
    description = capsys.readouterr().out.split("\n\n")[1]
    assert description.rstrip().endswith(".")
