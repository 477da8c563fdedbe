"""When Python looks for garbage."""

import subprocess
import sys

PROGRAM = """
import gc
from sluice.garbage_collection import keep_what_is_loaded, look_for_none
look_for_none()
print(gc.isenabled())
keep_what_is_loaded()
print(gc.isenabled(), gc.get_freeze_count() > 1000)
"""


def test_not_while_a_process_loads_and_then_among_what_is_new() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "True", "True"]
