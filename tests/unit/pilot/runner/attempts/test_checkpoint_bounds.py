"""Tests of checkpoints at their limits: long paths, open files, and a folder where a file cannot be
restored."""

import os
import resource
from pathlib import Path

import pytest

from tests.unit.pilot.runner.attempts.attempts_with_checkpoints import StandaloneAttempt


def test_checkpoint_with_too_long_paths_is_not_kept(root: Path) -> None:
    first = StandaloneAttempt(root, 1)
    for number in range(3):
        first.write_file(f"state/{'ä' * 127}/{'ä' * 127}/{number}", "1")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pilot.runner.attempts.checkpoints._MAX_PATHS", 4_500)
        first.keep_checkpoint()
        assert first.notes == [
            "no checkpoint was kept: there are more than 4500 characters in their paths"
        ]
        (first.out / "state" / ("ä" * 127) / ("ä" * 127) / "2").unlink()
        first.keep_checkpoint()
    assert len(StandaloneAttempt(root, 2).restore_checkpoint()) == 2


def test_checkpoint_of_many_files_needs_few_descriptors(root: Path) -> None:
    """A process has 1024 descriptors on most nodes, and a checkpoint has up to 500 files."""
    first = StandaloneAttempt(root, 1)
    for number in range(100):
        first.write_file(f"state/{number}", "1")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 150, before[1]))
    try:
        first.keep_checkpoint()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert len(StandaloneAttempt(root, 2).restore_checkpoint()) == 100


@pytest.mark.parametrize("staged", ["", "staged"])
def test_checkpoint_that_cannot_be_restored_leaves_no_files(root: Path, staged: str) -> None:
    """The previous checkpoint is restored instead."""
    first = StandaloneAttempt(root, 1, files=("state/n", "state/m", "state/sub/*", "state/z"))
    first.write_file("state/n", "1")
    first.keep_checkpoint()
    first.write_file("state/m", "2")
    first.write_file("state/sub/m", "2")
    first.write_file("state/z", "2")
    first.keep_checkpoint()
    newer = root / "logs" / "00000007.1-checkpoint-list.1.json"
    newer.write_text(newer.read_text().replace("state/z", "state/m/z"))
    second = StandaloneAttempt(root, 2)
    if staged:
        second.write_file("state/m", staged)
    assert second.restore_checkpoint() == {"state/n": "1"} | ({"state/m": staged} if staged else {})
    assert not (second.out / "state" / "sub").exists()
