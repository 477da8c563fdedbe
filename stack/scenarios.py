"""Demonstrations and benchmarks on a separate stack."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from stack.running_stack import run_stack


def run_demo(folder: Path, module: str, arguments: Sequence[str], options: Sequence[str]) -> int:
    """Run the demonstration ``module`` on a stack below ``folder``, and return its exit status.

    Earlier contents of the folder are deleted. ``options`` are those of the stack.

    Raises:
        OSError: The stack does not become ready.
    """
    with run_stack(folder / "system", options, fresh=True, output=None) as stack:
        environment = os.environ | {"SLUICE_DMS_URL": stack.services["dms"]}
        place = ["--home", str(folder / "demo"), "--url", stack.url]
        command = [sys.executable, "-m", module, *place, *arguments]
        return subprocess.run(command, env=environment, check=False).returncode


def run_bench(folder: Path, arguments: Sequence[str]) -> int:
    """Run ``sluice bench bookkeeping`` on a stack below ``folder``, and return its exit status.

    The stack has no pilots, and no proxies that are not needed.

    Raises:
        OSError: The stack does not become ready.
    """
    replicas = "pilot=0,backup=0,backup-assets=0,setup-backup=0"
    options = ["--direct", "--replicas", replicas, "--stop-limit", "10"]
    # The registered files do not exist.
    options += ["--set", "SLUICE_DMS_VERIFY_FILES=false"]
    with run_stack(folder, options, fresh=True, output=None) as stack:
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
