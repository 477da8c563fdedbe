"""What is run on a stack of its own, from start to end: the demonstration of a pack, a
benchmark.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from stack.running_stack import started


def run_demo(folder: Path, module: str, arguments: Sequence[str], options: Sequence[str]) -> int:
    """Starts a stack below ``folder`` with such ``options``, runs the demonstration ``module
    ARGUMENTS`` on it, stops it; the demonstration's exit status. What an earlier one left there is
    removed. Raises ``OSError``.
    """
    with started(folder / "system", options, fresh=True, output=None) as stack:
        environment = os.environ | {"SLUICE_DMS_URL": stack.services["dms"]}
        place = ["--home", str(folder / "demo"), "--url", stack.url]
        command = [sys.executable, "-m", module, *place, *arguments]
        return subprocess.run(command, env=environment, check=False).returncode


def run_bench(folder: Path, arguments: Sequence[str]) -> int:
    """Starts a stack below ``folder`` with neither pilots nor proxies where none are needed,
    measures its bookkeeping with ``sluice bench bookkeeping ARGUMENTS``, stops it; the exit status
    of that. Raises ``OSError``.
    """
    left_out = "pilot=0,backup=0,backup-assets=0,setup-backup=0"
    options = ["--direct", "--replicas", left_out, "--stop-limit", "10"]
    options += [
        "--set",
        "SLUICE_DMS_VERIFY_FILES=false",
    ]  # the files that are registered are made up
    with started(folder, options, fresh=True, output=None) as stack:
        command = [
            sys.executable,
            "-m",
            "sluice.cli",
            "bench",
            "bookkeeping",
            "--stack",
            str(stack.folder),
            *arguments,
        ]
        return subprocess.run(command, check=False).returncode
