"""Test runs of an ordinary user leave out tests that need root, and say so."""

import subprocess
import sys

from tests.architecture.sources import ROOT


def test_ordinary_user_leaves_out_tests_that_need_root_and_is_told() -> None:
    module = "tests/unit/pilot/folders/test_ownership.py"
    collect = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    # A process without a mapped user in a namespace has no rights of root.
    output = subprocess.run(
        ["unshare", "--user", *collect, module],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    assert "::test_work_folder_that_is_a_file_is_refused" in output
    assert "::test_entry_of_another_user_in_a_shared_folder_is_refused" not in output
    assert "2 deselected" in output
    [line] = [line for line in output.splitlines() if line.startswith("left out: ")]
    assert "root's rights" in line
    assert "run `make test` as root" in line
