"""The rules of the layout hold: imports point one way, files and functions stay small."""

import subprocess
import sys
from pathlib import Path


def test_import_contracts_hold() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_files_and_functions_stay_within_the_limits() -> None:
    done = subprocess.run([sys.executable, "scripts/check_limits.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
