"""Control of Python's garbage collector."""

import subprocess
import sys

PROGRAM = """
import gc
from sluice.process.garbage_collection import freeze_loaded_objects, disable_garbage_collection
disable_garbage_collection()
print(gc.isenabled())
freeze_loaded_objects()
print(gc.isenabled(), gc.get_freeze_count() > 1000)
"""


def test_garbage_collector_is_off_while_loading_and_skips_loaded_objects() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "True", "True"]
