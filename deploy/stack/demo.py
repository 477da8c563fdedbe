"""``make stack-demo``: the detector pack's demonstration on a stack of its own, from start to end."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from deploy.stack.running import started


def run_demo(folder: Path, frames: int, options: Sequence[str]) -> int:
    """Starts a stack below ``folder``, runs the demonstration on it, stops it; the demonstration's exit status. What an earlier
    one left there is removed. Raises ``OSError``."""
    with started(folder / "system", options, fresh=True, output=None) as stack:
        environment = os.environ | {"SLUICE_DMS_URL": stack.services["dms"]}
        command = [sys.executable, "-m", "spd.demo", "--home", str(folder / "demo"), "--url", stack.url, "--frames", str(frames)]
        return subprocess.run(command, env=environment, check=False).returncode
