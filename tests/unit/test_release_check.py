"""The steps of the check of a release, and the results that it prints."""

import re
import subprocess
import sys
from pathlib import Path

from scripts.release_check import find_last_result, list_steps
from tests.architecture.sources import ROOT


def test_each_step_is_a_target_of_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    steps = list_steps(Path("/suites"), [4, 5])
    assert {step.target for step in steps} <= targets
    names = [step.name for step in steps]
    assert names[:2] == ["make faults SEED=4", "make faults SEED=5"]
    assert "make conformance SUITE=/suites/cwl-v1.1 CONTAINERS=none" in names
    assert names[-1] == "make test"


def test_result_is_the_last_line_that_counts_results(tmp_path: Path) -> None:
    log = tmp_path / "log"
    for text, expected in (
        ("", "no output"),
        ("begun\nended\n\n", "ended"),
        ("3 passed\n5 passed, 1 failed in 2 s\nstopped\n", "5 passed, 1 failed in 2 s"),
    ):
        log.write_text(text)
        assert find_last_result(log) == expected


def test_missing_suites_are_named(tmp_path: Path) -> None:
    (tmp_path / "cwl-v1.2").mkdir()
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "release_check.py", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "has no cwl-v1.1, common-workflow-language: clone them there" in done.stderr
