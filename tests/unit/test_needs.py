"""An ordinary user's run leaves out what needs root, and says so."""

import subprocess
import sys

from tests.architecture.sources import ROOT


def test_ordinary_user_leaves_out_tests_that_need_root_and_is_told() -> None:
    module = "tests/unit/pilot/folders/test_ownership.py"
    collect = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    # Whoever is mapped to no user of a namespace is an ordinary one there.
    said = subprocess.run(
        ["unshare", "--user", *collect, module],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    assert "::test_it_is_a_folder" in said
    assert "::test_what_somebody_else_has_put_there_is_not_entered" not in said
    assert "2 deselected" in said
    [line] = [line for line in said.splitlines() if line.startswith("left out: ")]
    assert "root's rights" in line
    assert "run `make test` as root" in line
