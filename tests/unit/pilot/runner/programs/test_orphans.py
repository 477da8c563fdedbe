"""Test that the children of a process are adopted when the process counts as ended."""

import os
import subprocess
import sys

ROUNDS = 10

#: Starts a child from one of several busy threads. The first thread of a killed process ends before
#: the others.
PARENT = """
import subprocess, threading, time
for _ in range(6):
    threading.Thread(target=lambda: all(iter(lambda: True, False)), daemon=True).start()
def start():
    print(subprocess.Popen(["sleep", "60"]).pid, flush=True)
    time.sleep(60)
threading.Thread(target=start).start()
"""

#: Adopts orphans as a pilot does, and prints how many were not yet adopted when their parent
#: counted as ended.
ADOPTER = f"""
import os, signal, subprocess, sys
from pilot.runner.programs.orphans import adopt_orphans, list_children, has_ended, kill_orphans
adopt_orphans()
missed = 0
for _ in range({ROUNDS}):
    parent = subprocess.Popen([sys.executable, "-IS", "-c", {PARENT!r}], stdout=subprocess.PIPE)
    orphan = int(parent.stdout.readline())
    parent.kill()
    while not has_ended(parent.pid):
        pass
    missed += orphan not in list_children()
    parent.wait()
    kill_orphans()
    if os.path.exists(f"/proc/{{orphan}}"):
        os.kill(orphan, signal.SIGKILL)
print(missed)
"""


def test_children_of_an_ended_process_are_adopted() -> None:
    environment = os.environ | {"PYTHONPATH": os.getcwd()}
    done = subprocess.run(
        [sys.executable, "-c", ADOPTER],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert int(done.stdout) == 0
