"""Benchmark of `sluice cwl-runner` with one small tool, beside cwltool's command."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from bench.result import BenchResult, percentile
from bench.system import fresh_system

TOOL = """\
cwlVersion: v1.2
class: CommandLineTool
baseCommand: [wc, -l]
inputs:
  text: {type: File, inputBinding: {position: 1}}
outputs:
  lines: {type: stdout}
stdout: lines.txt
"""


def bench_command(rounds: int = 20) -> BenchResult:
    """Measure the median time of the command over ``rounds`` rounds, in turns with cwltool."""
    with (
        tempfile.TemporaryDirectory(prefix="sluice-bench-command-") as folder,
        fresh_system() as (url, _),
    ):
        root = Path(folder)
        (root / "tool.cwl").write_text(TOOL)
        (root / "text.txt").write_text("one\ntwo\n")
        (root / "order.json").write_text(
            json.dumps({"text": {"class": "File", "path": "text.txt"}})
        )
        programs = Path(sys.executable).parent
        sluice_command = [
            str(programs / "sluice"),
            "cwl-runner",
            "--url",
            url,
            "--quiet",
            "tool.cwl",
            "order.json",
        ]
        cwltool_command = [str(programs / "cwltool"), "--quiet", "tool.cwl", "order.json"]
        first = _run(sluice_command, root)
        _run(cwltool_command, root)
        pairs = [(_run(sluice_command, root), _run(cwltool_command, root)) for _ in range(rounds)]
    wall_seconds = [wall for (wall, _), _ in pairs]
    processor = median(used for (_, used), _ in pairs)
    cwltool = median(wall for _, (wall, _) in pairs)
    value = median(wall_seconds)
    return BenchResult(
        name="cwl-runner",
        value=value,
        unit="s",
        target="<= 0.5 s",
        peers={"cwltool": cwltool},
        ratio=value / cwltool,
        details={
            "rounds": rounds,
            "p99 s": round(percentile(wall_seconds, 0.99), 2),
            "processor s of the command itself": round(processor, 2),
            "the first one on a system that has just started, s": round(first[0], 2),
        },
    )


def _run(command: Sequence[str], folder: Path) -> tuple[float, float]:
    """Return the wall-clock seconds and the processor seconds of a command."""
    before, started = os.times(), time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    wall, after = time.perf_counter() - started, os.times()
    used = (
        after.children_user + after.children_system - before.children_user - before.children_system
    )
    return wall, used
