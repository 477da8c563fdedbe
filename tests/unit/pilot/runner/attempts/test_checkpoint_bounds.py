"""What is much for a checkpoint: paths, open files, and a place that has no room for one of its
files."""

import os
import resource
from pathlib import Path

import pytest

from tests.unit.pilot.runner.attempts.attempts_with_checkpoints import AttemptAlone


def test_paths_too_long_for_a_list_that_is_read_are_not_kept(root: Path) -> None:
    first = AttemptAlone(root, 1)
    for number in range(3):
        first.write(f"state/{'ä' * 127}/{'ä' * 127}/{number}", "1")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("pilot.runner.attempts.checkpoints._MOST_PATHS", 4_500)
        first.keep()
        assert first.notes == [
            "no checkpoint was kept: there are more than 4500 characters in their paths"
        ]
        (first.out / "state" / ("ä" * 127) / ("ä" * 127) / "2").unlink()
        first.keep()
    assert len(AttemptAlone(root, 2).go_on()) == 2


def test_the_second_look_leaves_descriptors_to_the_job(root: Path) -> None:
    """Of which a process has 1024 on most nodes, and a checkpoint 500 files."""
    first = AttemptAlone(root, 1)
    for number in range(100):
        first.write(f"state/{number}", "1")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 150, before[1]))
    try:
        first.keep()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert len(AttemptAlone(root, 2).go_on()) == 100


@pytest.mark.parametrize("staged", ["", "staged"])
def test_of_one_that_cannot_be_put_in_place_nothing_is_left(root: Path, staged: str) -> None:
    """As where paths are too long here; the one before is put in place then."""
    first = AttemptAlone(root, 1, files=("state/n", "state/m", "state/sub/*", "state/z"))
    first.write("state/n", "1")
    first.keep()
    first.write("state/m", "2")
    first.write("state/sub/m", "2")
    first.write("state/z", "2")
    first.keep()
    newer = root / "logs" / "00000007.1-checkpoint-list.1.json"
    newer.write_text(newer.read_text().replace("state/z", "state/m/z"))
    second = AttemptAlone(root, 2)
    if staged:
        second.write("state/m", staged)
    assert second.go_on() == {"state/n": "1"} | ({"state/m": staged} if staged else {})
    assert not (second.out / "state" / "sub").exists()
