"""The rules of the layout hold: imports point one way, files and functions stay small."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


def test_import_contracts_hold() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_files_and_functions_stay_within_the_limits() -> None:
    done = subprocess.run(
        [sys.executable, "scripts/check_limits.py"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.xdist_group("one-of-a-group")
def test_groups_of_tests_stay_together() -> None:
    """What a module or a group starts once would be started by every process, if the marks were not
    heard."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        assert "@one-of-a-group" in os.environ["PYTEST_CURRENT_TEST"]
