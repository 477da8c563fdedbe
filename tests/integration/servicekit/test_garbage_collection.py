"""A service that cannot start yet collects garbage, as it may wait for its database for days."""

import os
import subprocess
import sys

PROGRAM = """
import gc
from sluice.servicekit.running.process import run_service
try:
    run_service("dms")
except SystemExit as ending:
    print(ending.code, gc.isenabled())
"""


def test_garbage_collection_is_enabled_as_soon_as_all_modules_are_loaded() -> None:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("SLUICE_")
    }
    environment["SLUICE_DMS_PORT"] = "no port"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["2", "True"], done.stderr
